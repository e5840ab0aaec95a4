import PressureKit
import PressureKitTesting
import Testing

@Suite struct MarbleSourceTests {
    @Test func playsOneMarbleATick() {
        let clock = ManualClock()
        clock.advance(by: .seconds(7))
        let source = MarbleSource("nw-c", tick: .milliseconds(100), clock: clock)
        var seen: [SignalReading.Measure?] = []
        for _ in 0..<12 {
            seen.append(source.sample(at: clock.now())?.measure)
            clock.advance(by: .milliseconds(50))
        }
        let played: [SignalReading.Measure?] = [
            .demand(.normal, freeing: nil), .demand(.warning, freeing: nil), nil, .demand(.critical, freeing: nil), nil,
            nil,
        ]
        #expect(seen == played.flatMap { [$0, $0] })
        #expect(source.count == 4)
    }

    @Test func anUnknownMarbleIsAProgrammersError() async {
        await #expect(processExitsWith: .failure) { _ = MarbleSource("nnx", clock: ManualClock()) }
    }
}
