import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// What is an error for its reader, and no failure of anything.
@Suite(.timeLimit(.minutes(5))) struct MissingValueTests {
    struct Broken: Error, Equatable {}

    /// Notes every failure that reaches it, and handles none.
    private final class Handler: PressureControllerDelegate, PressureManagerDelegate {
        let failures = Shared<[String]>([])

        func handle(_ failure: ResourceFailure) -> Bool {
            failures.change { $0.append("\(failure.kind) \(failure.resource.name)") }
            return false
        }
    }

    private let manager: PressureManager
    private let controller: PressureController
    private let handler = Handler()

    init() throws {
        manager = try makeManager(fileSystem: InMemoryFileSystem())
        controller = try addController("app", to: manager.root)
        controller.delegate = handler
        manager.delegate = handler
    }

    /// What the two were told, once it is as much as that: a suspended reader goes on before they are.
    private func told(_ count: Int) async -> [String] {
        while handler.failures.value.count < count { await Task.yield() }
        return handler.failures.value
    }

    /// What caches and metrics have counted, and what was delivered to those who follow the events.
    private func failures(_ events: PressureEvents) async -> (counted: Int, metered: Int, delivered: Int) {
        let caches = manager.snapshot().controllers.flatMap(\.caches)
        var counts = UnreportedCounts()
        for entry in controller.state.withLock({ $0.entries }) { entry.statistics.takeUnreported(into: &counts) }
        await manager.shutdown()
        var delivered = 0
        for await event in events { if case .failure = event { delivered += 1 } }
        return (caches.reduce(0) { $0 + $1.failures }, counts.failures, delivered)
    }

    @Test func readingWhatIsNotThereIsNoFailure() async throws {
        let events = manager.events
        let one = try controller.cache("one", of: [UInt8].self)
        let many = try controller.keyedCache("many", key: Int.self, value: [UInt8].self)
        let asked = Shared(0)
        let note: @Sendable (ResourceFailure) -> Bool = { _ in
            asked.change { $0 += 1 }
            return false
        }
        one.onFailure(note)
        many.onFailure(note)
        func blocking(_ key: Int) throws -> [UInt8] { try many.value(for: key) }
        func blocking() throws -> [UInt8] { try one.value() }
        for key in 0..<10 {
            let errors = [
                #expect(throws: PressureError.self) { try blocking() },
                await #expect(throws: PressureError.self) { try await one.value() },
                #expect(throws: PressureError.self) { try one.update { $0 = [] } },
                #expect(throws: PressureError.self) { try blocking(key) },
                await #expect(throws: PressureError.self) { try await many.value(for: key) },
                #expect(throws: PressureError.self) { try many.update(for: key) { $0 = [] } },
                await #expect(throws: PressureError.self) { try await many.values(for: [key]) },
            ]
            #expect(errors.map { $0?.code } == Array(repeating: .noValue, count: errors.count))
            #expect(errors.last??.path == "app/many[\(key)]")
        }
        #expect(handler.failures.value == [] && asked.value == 0)
        #expect(many.count == 0 && many.statistics.failures == 0)
        #expect(await failures(events) == (0, 0, 0))
    }

    @Test(arguments: LoaderKind.allCases)
    func aLoadThatWasCancelledIsNoFailureAndOneThatBrokeIs(_ kind: LoaderKind) async throws {
        let events = manager.events
        let one = try controller.cache("one", kind) { throw CancellationError() }
        let many = try controller.keyedCache("many", kind) { key in
            if key < 0 { throw Broken() }
            throw CancellationError()
        }
        for _ in 0..<3 {
            await #expect(throws: CancellationError.self) { try await one.value() }
            await #expect(throws: CancellationError.self) { try await many.value(1) }
        }
        #expect(handler.failures.value == [] && many.statistics().failures == 0)
        await #expect(throws: Broken()) { try await many.value(-1) }
        #expect(await told(2) == ["load many", "load many"], "the controller's, and the manager's")
        #expect(await failures(events) == (1, 1, 0))
    }

    /// A loader that reads another cache, which has nothing for it, has failed.
    @Test(arguments: LoaderKind.allCases)
    func aLoaderThatFindsNothingElsewhereHasFailed(_ kind: LoaderKind) async throws {
        let events = manager.events
        let source = try controller.keyedCache("source", key: Int.self, value: [UInt8].self)
        let many = try controller.keyedCache("many", kind) { key in try source.value(for: key) }
        let error = await #expect(throws: PressureError.self) { try await many.value(1) }
        #expect(error?.code == .noValue && error?.path == "app/source[1]")
        #expect(await told(2) == ["load many", "load many"])
        #expect(await failures(events).counted == 1)
    }
}
