import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

@Suite(.timeLimit(.minutes(15))) struct EventsTests {
    private func failure(_ number: Int) -> PressureEvent {
        .failure(PressureError(code: .restoreFailed, message: "\(number)"))
    }

    private func number(_ event: PressureEvent?) -> Int? {
        if case .failure(let error) = event { Int(error.message) } else { nil }
    }

    @Test func aReclaimIsToldInOrder() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let events = manager.events
        _ = await manager.simulateMemoryWarning(.critical)
        _ = await manager.enterForeground()
        await manager.shutdown()
        var names: [String] = []
        for await event in events {
            switch event {
            case .memoryWarning(let warning): names.append("warning \(warning.level)")
            case .reclaimFinished(let report): names.append("reclaim \(report.cause.source)")
            case .restoreFinished: names.append("restore")
            case .levelChanged, .failure: names.append("?")
            }
        }
        #expect(names == ["warning critical", "reclaim simulateMemoryWarning", "restore"])
    }

    @Test func everySubscriberGetsWhatHappensFromThenOn() async {
        let hub = EventHub()
        let early = hub.subscribe()
        hub.deliver(failure(1))
        let late = hub.subscribe()
        hub.deliver(failure(2))
        hub.finish()
        var numbers: [[Int?]] = []
        for events in [early, late] {
            var seen: [Int?] = []
            for await event in events { seen.append(number(event)) }
            numbers.append(seen)
        }
        #expect(numbers == [[1, 2], [2]])
    }

    @Test func aSlowConsumerLosesTheOldestOnly() async {
        let hub = EventHub()
        let events = hub.subscribe()
        for index in 0..<300 { hub.deliver(failure(index)) }
        hub.finish()
        var seen: [Int] = []
        for await event in events { seen.append(number(event) ?? -1) }
        #expect(seen == Array(44..<300))
    }

    @Test func waitingEndsWithTheNextEventTheEndOrCancellation() async {
        let hub = EventHub()
        let events = hub.subscribe()
        let waiting = Task { await events.first { _ in true } }
        hub.deliver(failure(7))
        #expect(await number(waiting.value) == 7)
        let cancelled = Task { await events.first { _ in true } }
        await Task.yield()
        cancelled.cancel()
        #expect(await number(cancelled.value) == nil)
        // The cancelled consumer took nothing with it.
        hub.deliver(failure(8))
        #expect(await number(events.first { _ in true }) == 8)
        let ended = Task { await events.first { _ in true } }
        await Task.yield()
        hub.finish()
        #expect(await number(ended.value) == nil)
    }

    @Test func subscribingAfterTheEndEndsAtOnce() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        await manager.shutdown()
        for await _ in manager.events { Issue.record("there is nothing to tell") }
    }

    @Test func releasingTheManagerEndsItsEvents() async throws {
        var manager: PressureManager? = try makeManager(fileSystem: InMemoryFileSystem())
        let events = try #require(manager).events
        let waiting = Task { await events.first { _ in true } }
        manager = nil
        #expect(await number(waiting.value) == nil)
    }
}
