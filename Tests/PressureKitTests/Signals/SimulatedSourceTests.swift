import PressureKit
import Testing

@Suite struct SimulatedSourceTests {
    private func instant(_ seconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
    }

    @Test func demandsNormalUntilItIsTold() {
        #expect(SimulatedSource().sample(at: instant(0))?.measure == .demand(.normal, freeing: nil))
        #expect(SimulatedSource(level: .warning).sample(at: instant(0))?.measure == .demand(.warning, freeing: nil))
    }

    /// What is freed after the demand counts towards it, so its age is that of the first sample.
    @Test func aDemandIsAsOldAsItsFirstSample() {
        let source = SimulatedSource(name: "knob")
        source.set(.critical, freeing: .mebibytes(3))
        let first = source.sample(at: instant(1))
        #expect(first?.measure == .demand(.critical, freeing: .mebibytes(3)))
        #expect(first?.source == "knob")
        #expect(first?.origin == .simulated)
        #expect(source.sample(at: instant(5))?.takenAt == instant(1))
        source.set(.critical, freeing: .mebibytes(3))
        #expect(source.sample(at: instant(6))?.takenAt == instant(6))
    }

    @Test func aPretendedHeadroomIsAlwaysNew() {
        let source = SimulatedSource()
        source.set(available: .mebibytes(30), of: .mebibytes(100))
        #expect(source.sample(at: instant(1))?.headroom?.available == .mebibytes(30))
        #expect(source.sample(at: instant(2))?.takenAt == instant(2))
        source.set(available: .mebibytes(20), of: .zero)
        #expect(source.sample(at: instant(3))?.headroom?.available == .mebibytes(30), "no limit, no change")
    }

    @Test(.timeLimit(.minutes(15))) func settingWakesEveryLoopItIsAttachedTo() throws {
        let source = SimulatedSource()
        let loops = [try EventLoop(), try EventLoop()]
        for loop in loops { source.attach(to: loop) }
        source.set(.warning)
        // Without the notification each of these would wait an hour.
        for loop in loops { #expect(loop.wait(upTo: .seconds(3600))) }
    }

    @Test func aDetachedLoopIsLeftAlone() throws {
        let source = SimulatedSource()
        var loop: EventLoop? = try EventLoop()
        weak let released = loop
        source.attach(to: loop!)
        source.detach(from: loop!)
        loop = nil
        #expect(released == nil)
        source.set(.warning)
    }

    @Test func aChoiceOpensTheSourceItNames() throws {
        let simulated = SimulatedSource(name: "knob")
        let choice = PressureSource.simulated(simulated)
        #expect(choice.name == "knob")
        #expect(try choice.open().first === simulated)
        #expect(PressureSource.memoryInfo.name == "/proc/meminfo")
        #expect(try PressureSource.memoryInfo.open().first is MemoryInfoSource)
    }
}
