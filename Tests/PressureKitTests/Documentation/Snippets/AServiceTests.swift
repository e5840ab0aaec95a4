#if ServiceLifecycle
import Logging
import PressureKit
import PressureKitTestSupport
import PressureKitTesting
import ServiceLifecycle
import Testing
import UnixSignals

/// What a service holds: texts that can be fetched again, and notes that cannot be made again.
final class Library: PressureControllerDelegate {
    let controller = PressureController("library")
    let texts: KeyedCache<Int, [UInt8]>
    let notes: KeyedCache<Int, String>

    init(in manager: PressureManager, fetch: @escaping @Sendable (Int) throws -> [UInt8]) throws {
        texts = try controller.keyedCache("texts", loader: fetch)
        notes = try controller.keyedCache("notes", key: Int.self, value: String.self)
        texts.isRestorable = false  // not in the saved state: it is fetched again
        controller.delegate = self
        try manager.root.addChild(controller)
    }

    func note(_ line: String, on text: Int) throws {
        try notes.update(for: text, default: "") { $0 += line + "\n" }
    }
}

extension Library {
    func length(of text: Int) async throws -> Int {
        try await texts.lease(for: text).value.count
    }
}

/// Saves again and again, and once more when nothing changes any longer.
struct Autosave: Service {
    let manager: PressureManager
    let directory: String
    let interval: Duration
    let logger: Logger

    func run() async {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: interval)) != nil { await save() }
        }
        await save()
    }

    private func save() async {
        do {
            try await manager.saveState(to: directory, version: "1")
        } catch {
            logger.warning("not saved: \(error)")
        }
    }
}

/// Writes a note, and another one when it is asked to end.
struct Server: Service {
    let library: Library

    func run() async throws {
        try library.note("begun", on: 1)
        try await gracefulShutdown()
        try library.note("ended", on: 1)
    }
}

private func main(fetch: @escaping @Sendable (Int) throws -> [UInt8]) async throws {
    let logger = Logger(label: "library")
    let directory = "/var/lib/library/state"
    let manager = try PressureManager(logger: logger)
    let library = try Library(in: manager, fetch: fetch)
    do {
        try await manager.restoreState(from: directory, version: "1")
    } catch {
        guard error.code == .stateRefused else { throw error }
        logger.warning("begins empty: \(error)")
    }
    let autosave = Autosave(manager: manager, directory: directory, interval: .seconds(30), logger: logger)
    let group = ServiceGroup(
        services: [manager, autosave, Server(library: library)],  // shut down from right to left
        gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger
    )
    try await group.run()
    await manager.shutdown()
}

private func found(_ library: Library) async throws {
    for text in library.notes.keys.sorted() {
        let note = try await library.notes.value(for: text)
        print("\(text): \(note)")
    }
}

private func status(of manager: PressureManager) -> String {
    let now = manager.snapshot()
    var lines = ["\(now.level): \(now.resident) in memory, \(now.spilled) spilled"]
    // Neither is known before the first sample.
    if let available = now.available, let limit = now.limit { lines.append("\(available) of \(limit) left") }
    for cache in now.controllers.flatMap(\.caches) {
        let use = "\(cache.loads) loads, \(cache.restores) restores, \(cache.evictions) evictions"
        lines.append("\(cache.path): \(cache.tiers.resident), \(use), \(cache.refaults) of them wrong")
    }
    return lines.joined(separator: "\n")
}

private func isReady(_ manager: PressureManager) -> Bool { manager.level < .critical }

@Suite(.timeLimit(.minutes(5))) struct AServiceTests {
    /// One run of it, which a shutdown ends.
    private func run(on disk: InMemoryFileSystem) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let manager = try PressureManager(configuration: .testing(disk: disk), logger: logger)
        let library = try Library(in: manager) { [UInt8](repeating: UInt8($0), count: 1000) }
        _ = try await library.texts.value(for: 7)
        let autosave = Autosave(manager: manager, directory: "/var/tmp/app", interval: .milliseconds(1), logger: logger)
        let group = ServiceGroup(services: [manager, autosave, Server(library: library)], logger: logger)
        let running = Task { try await group.run() }
        while !library.notes.contains(1) { await Task.yield() }
        await group.triggerGracefulShutdown()
        try await running.value
        await manager.shutdown()
    }

    /// The manager runs until the last save is done, and that has what the server did last.
    @Test func whatTheServerDidLastIsSaved() async throws {
        let disk = InMemoryFileSystem()
        try await run(on: disk)
        let manager = try PressureManager(configuration: .testing(disk: disk))
        let library = try Library(in: manager) { _ in [] }
        try await manager.restoreState(from: "/var/tmp/app", version: "1")
        #expect(library.notes.keys == [1])
        #expect(try await library.notes.value(for: 1) == "begun\nended\n")
        #expect(library.texts.count == 0)
        try await found(library)
        #expect(try await library.length(of: 7) == 0)
        #expect(status(of: manager).contains("\nlibrary/notes: 12 B, 0 loads, 1 restores, "))
        #expect(isReady(manager))
    }
}
#endif
