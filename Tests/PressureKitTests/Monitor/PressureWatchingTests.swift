import Dispatch
import PressureSystem
import Synchronization
import Testing

@testable import PressureSignals

/// What somebody sees who uses the module PressureSignals alone, by its public interface.
@Suite(.timeLimit(.minutes(1))) struct PressureWatchingTests {
    private func isWatched(_ source: SimulatedSource) -> Bool { source.statuses.contains { $0.state == .armed } }

    @Test func aCallbackIsToldOfEachLevel() async throws {
        let source = SimulatedSource(name: "drill")
        let (stream, told) = AsyncStream.makeStream(of: PressureCause.self)
        let monitor = try PressureMonitor(sources: [.simulated(source)]) { told.yield($0) }
        try monitor.start()
        defer { monitor.stop() }
        source.set(.critical)
        var causes = stream.makeAsyncIterator()
        let cause = try #require(await causes.next())
        #expect(cause.levelBefore == .normal && cause.levelAfter == .critical)
        #expect(cause.source == "drill")
        #expect(monitor.level == .critical)
    }

    @Test func aLoopIsToldOfEachLevel() async throws {
        let source = SimulatedSource(level: .warning, name: "drill")
        var levels: [PressureLevel] = []
        for await cause in try PressureMonitor.changes(sources: [.simulated(source)]) {
            guard cause.levelBefore != cause.levelAfter else { continue }
            levels.append(cause.levelAfter)
            if cause.levelAfter == .critical { break }
            source.set(.critical)
        }
        #expect(levels == [.warning, .critical])
    }

    /// The stream keeps the monitor and its thread no longer than somebody listens.
    @Test func whoStopsListeningStopsTheWatching() async throws {
        let source = SimulatedSource(level: .warning, name: "drill")
        let stream = try PressureMonitor.changes(sources: [.simulated(source)])
        let task = Task { for await _ in stream {} }
        task.cancel()
        await task.value
        while isWatched(source) { await Task.yield() }
    }

    @Test func aLoopThatIsLeftEndsTheWatching() async throws {
        let source = SimulatedSource(level: .warning, name: "drill")
        for await _ in try PressureMonitor.changes(sources: [.simulated(source)]) { break }
        while isWatched(source) { await Task.yield() }
    }

    @Test func aStreamThatNobodyReadsEndsTheWatching() async throws {
        let source = SimulatedSource(level: .warning, name: "drill")
        _ = try PressureMonitor.changes(sources: [.simulated(source)])
        while isWatched(source) { await Task.yield() }
    }

    @Test func thresholdsThatContradictEachOtherAreRefused() {
        var thresholds = PressureThresholds()
        thresholds.warning = .init(enter: 0.5, leave: 0.1)
        #expect { try PressureMonitor.changes(thresholds: thresholds) } throws: {
            ($0 as? PressureError)?.code == .invalidConfiguration
        }
    }

    // MARK: In Dispatch's shape

    /// Compiles as it stands on Apple's systems.
    @Test func codeWrittenForAppleCompiles() {
        let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: .global())
        source.setEventHandler {}
        source.setCancelHandler {}
        source.activate()
        source.cancel()
        #expect(source.isCancelled)
    }

    @Test func aDispatchSourceFiresForTheLevelsOfItsMask() async {
        let drill = SimulatedSource(name: "drill")
        let (source, monitor) = DispatchSource.watched(mask: [.critical], sources: [.simulated(drill)], queue: nil)
        let (stream, fired) = AsyncStream.makeStream(of: DispatchSource.MemoryPressureEvent.self)
        let pressure: any DispatchSourceMemoryPressure = source
        pressure.setEventHandler { [unowned source] in
            let event: DispatchSource.MemoryPressureEvent = source.data
            fired.yield(event)
        }
        pressure.activate()
        drill.set(.warning)
        while monitor?.level != .warning { await Task.yield() }
        drill.set(.critical)
        var events = stream.makeAsyncIterator()
        #expect(await events.next() == .critical, "the warning is not in the mask")
        pressure.cancel()
        // The sample that sees it is this one, at the latest.
        drill.set(.normal)
        while isWatched(drill) { await Task.yield() }
    }

    @Test func withNothingToWatchThereIsNoMonitor() {
        let missing = PressureSource(name: "missing") { () throws(PressureError) in
            throw PressureError(code: .signalUnavailable, message: "There is none.")
        }
        let (source, monitor) = DispatchSource.watched(mask: .all, sources: [missing], queue: nil)
        source.activate()
        #expect(monitor == nil)
        source.cancel()
    }

    @Test func aReleasedDispatchSourceEndsTheWatching() async {
        let drill = SimulatedSource(name: "drill")
        var source: DispatchSource? = DispatchSource.watched(mask: .all, sources: [.simulated(drill)], queue: nil)
            .source
        source?.activate()
        #expect(isWatched(drill))
        source = nil
        drill.set(.warning)
        while isWatched(drill) { await Task.yield() }
    }
}
