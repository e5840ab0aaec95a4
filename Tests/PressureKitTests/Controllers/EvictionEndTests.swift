import InMemoryLogging
import Logging
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// The end of a reclaim: one line in the log, one event, and each delegate knows for whom it hears of it.
@Suite(.timeLimit(.minutes(5))) struct EvictionEndTests {
    private final class Delegate: PressureControllerDelegate {
        let lines = HookLog.Lines()
        func evictionDidEnd(_ report: EvictionReport, for controller: PressureController) {
            lines.add("\(controller.path) \(report.evictedCount)")
        }
    }

    private final class OldDelegate: PressureControllerDelegate {
        let lines = HookLog.Lines()
        func evictionDidEnd(_ report: EvictionReport) { lines.add("\(report.evictedCount)") }
    }

    @Test func oneDelegateOfManyKnowsForWhomItHearsAndTheLogHasOneLine() async throws {
        var kept = InMemoryLogHandler()
        kept.logLevel = .trace
        let handler = kept
        let manager = try withLogger(Logger(label: "test") { _ in handler }) { _ in
            try makeManager(fileSystem: InMemoryFileSystem())
        }
        let (shared, old) = (Delegate(), OldDelegate())
        var controllers: [PressureController] = []
        for name in ["a", "b", "c"] {
            let controller = try addController(name, to: manager.root)
            controllers.append(controller)
            _ = try controller.cache("value", initialValue: makeBytes(1000, seed: 1))
            controller.delegate = name == "c" ? old : shared
        }
        let events = manager.events
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(shared.lines.take() == ["a 3", "b 3"])
        #expect(old.lines.take() == ["3"], "who does not ask for whom is told as before")
        #expect(handler.entries.filter { $0.message.description == "reclaim finished" }.count == 1)
        await manager.shutdown()
        var reports = 0
        for await event in events {
            if case .reclaimFinished = event { reports += 1 }
        }
        #expect(reports == 1)
    }
}
