import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// A manager may be run again before its calm worker's thread has noticed that it was stopped.
@Suite struct CalmRestartTests {
    @Test func aSecondThreadWaitsForTheFirstOnesStep() throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.copiesAhead = false }
        let controller = try addController("app", to: manager.root)
        _ = try controller.cache("mine", initialValue: makeBytes(10_000, seed: 1))
        let second = Shared<CleaningWorker?>(nil)
        let pauses = Shared<[Duration?]>([])
        let worker = CleaningWorker(
            engine: manager.context.engine,
            root: manager.root,
            rate: .gibibytes(1),
            isUnpressured: {
                // In the middle of a step, as the thread that was started anew.
                if let worker = second.change({ $0.take() }), let pause = worker.step() {
                    pauses.change { $0.append(pause) }
                }
                return true
            },
            read: { BusyReading(time: $0) }
        )
        second.set(worker)
        _ = worker.step()
        #expect(pauses.value.count == 1)
        #expect(pauses.value.allSatisfy { ($0 ?? .zero) > .zero }, "it comes back soon")
        // And the first one's state is there again.
        _ = worker.step()
    }
}
