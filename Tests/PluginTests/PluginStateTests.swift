import CPressureKit
import Foundation
import PressureKit
import PressureKitC
import Testing

/// Being told of warnings, and saved state, as pressurekit.h promises them.
@Suite(.timeLimit(.minutes(2))) struct PluginStateTests {
    private func expect(
        _ status: pressurekit_status,
        is expected: some BinaryInteger,
        says word: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(status == pressurekit_status(expected), "\(PluginBench.lastError)", sourceLocation: sourceLocation)
        guard let word else { return }
        #expect(PluginBench.lastError.contains(word), "\(PluginBench.lastError)", sourceLocation: sourceLocation)
    }

    /// Somebody who is told of warnings.
    private final class Listener: Sendable {
        struct Warning: Equatable {
            var level: Int32
            var bytes: UInt64
            var reason: String
            var residency: Int32
        }

        let manager: pressurekit_manager_t
        let cache: pressurekit_cache_t
        let heard = Lock<[Warning]>([])
        /// What calls from inside have come to.
        let statuses = Lock<[pressurekit_status]>([])

        init(_ manager: pressurekit_manager_t, _ cache: pressurekit_cache_t) {
            (self.manager, self.cache) = (manager, cache)
        }

        /// Kept for ever: it must outlive the manager.
        func listen(callingBack: Bool = false) -> pressurekit_status {
            let context = unsafe Unmanaged.passRetained(self).toOpaque()
            return unsafe pressurekit_set_warning_callback(manager, callingBack ? Self.call : Self.hear, context)
        }

        static let hear: pressurekit_warning_fn = { context, warning in
            // The context is the listener, which outlives the manager; the warning is valid for the call.
            let listener = unsafe Unmanaged<Listener>.fromOpaque(context!).takeUnretainedValue()
            let heard = unsafe Warning(
                level: warning!.pointee.level,
                bytes: warning!.pointee.bytes_wanted,
                reason: String(cString: warning!.pointee.reason),
                residency: PluginBench.residency(listener.cache)
            )
            listener.heard.withLock { $0.append(heard) }
        }

        static let call: pressurekit_warning_fn = { context, _ in
            let listener = unsafe Unmanaged<Listener>.fromOpaque(context!).takeUnretainedValue()
            let manager = listener.manager
            let statuses = unsafe [
                pressurekit_warn(manager, 2, 0, nil),
                pressurekit_enter_background(manager, nil),
                pressurekit_enter_foreground(manager),
                pressurekit_save_state(manager, "/no/such/directory", nil, nil),
                pressurekit_restore_state(manager, "/no/such/directory", nil, nil),
                pressurekit_destroy(manager),
                PluginBench.set(listener.cache, [1, 2]),
                pressurekit_set_warning_callback(manager, nil, nil),
            ]
            listener.statuses.withLock { $0 += statuses }
        }
    }

    @Test func whoListensIsToldBeforeValuesLeave() throws {
        let bench = try PluginBench()
        let cache = try bench.cache("a")
        expect(PluginBench.set(cache, [1]), is: PRESSUREKIT_OK)
        let (first, second) = (Listener(bench.manager, cache), Listener(bench.manager, cache))
        expect(first.listen(), is: PRESSUREKIT_OK)
        expect(pressurekit_warn(bench.manager, 1, 4096, nil), is: PRESSUREKIT_OK)
        #expect(PluginBench.residency(cache) == 3)
        let heard = try #require(first.heard.withLock { $0 }.first)
        #expect((heard.level, heard.bytes, heard.residency) == (1, 4096, 1))
        #expect(heard.reason.contains("pressurekit_warn"))
        expect(second.listen(), is: PRESSUREKIT_OK)
        _ = try bench.warn()
        #expect(second.heard.withLock { $0.map(\.level) } == [2])
        expect(pressurekit_set_warning_callback(bench.manager, nil, nil), is: PRESSUREKIT_OK)
        _ = try bench.warn()
        #expect(first.heard.withLock { $0.count } == 1)
        #expect(second.heard.withLock { $0.count } == 1)
        expect(pressurekit_set_warning_callback(cache, nil, nil), is: PRESSUREKIT_BAD_HANDLE)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    /// A reclaim waits for its callback, which must not wait for a reclaim, and may do anything else.
    @Test func whoIsToldMayNotWaitForTheReclaim() throws {
        let bench = try PluginBench()
        let cache = try bench.cache("a")
        let listener = Listener(bench.manager, cache)
        expect(listener.listen(callingBack: true), is: PRESSUREKIT_OK)
        _ = try bench.warn()
        let expected = [
            PRESSUREKIT_RECURSIVE, PRESSUREKIT_RECURSIVE, PRESSUREKIT_RECURSIVE, PRESSUREKIT_RECURSIVE,
            PRESSUREKIT_RECURSIVE, PRESSUREKIT_IN_USE, PRESSUREKIT_OK, PRESSUREKIT_OK,
        ].map { pressurekit_status($0) }
        // It took itself away.
        _ = try bench.warn()
        #expect(listener.statuses.withLock { $0 } == expected)
        #expect(PluginBench.read(cache) == .success([1, 2]))
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    // MARK: Saved state

    private func report(
        _ function: (
            pressurekit_manager_t, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafeMutablePointer<pressurekit_state_report>?
        ) -> pressurekit_status,
        _ bench: PluginBench,
        _ directory: String,
        _ version: String
    ) throws -> pressurekit_state_report {
        var report = pressurekit_state_report()
        report.size = MemoryLayout<pressurekit_state_report>.size
        expect(unsafe function(bench.manager, directory, version, &report), is: PRESSUREKIT_OK)
        return report
    }

    /// On a thread of its own, as an app's: tasks of other tests may keep all of Swift's.
    @Test func valuesComeBackInTheNextManager() async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try saveAndRestore() }) }
        }
    }

    private func saveAndRestore() throws {
        let place = URL(fileURLWithPath: "/var/tmp/pressurekit-plugin-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: place) }
        let (directory, keys) = (place.path, [[], [97], [0, 255], [35, 49]] as [[UInt8]])

        let first = try PluginBench()
        #expect(try unsafe report(pressurekit_restore_state, first, directory, "1").found == 0)
        let notes = try first.cache("notes")
        expect(PluginBench.set(notes, [1, 2, 3]), is: PRESSUREKIT_OK)
        var tiles: pressurekit_cache_t = 0
        expect(unsafe pressurekit_add_keyed_cache(first.manager, "tiles", nil, &tiles), is: PRESSUREKIT_OK)
        for key in keys {
            expect(unsafe pressurekit_set_key(tiles, key, key.count, key + [7], key.count + 1), is: PRESSUREKIT_OK)
        }
        expect(PluginBench.set(try first.cache("gone"), [9]), is: PRESSUREKIT_OK)
        let saved = try unsafe report(pressurekit_save_state, first, directory, "1")
        #expect((saved.found, saved.caches, saved.failures) == (1, 3, 0))
        #expect(saved.bytes > 0)
        let second = try PluginBench()
        expect(
            unsafe pressurekit_restore_state(second.manager, directory, "1", nil),
            is: PRESSUREKIT_UNAVAILABLE,
            says: "held by another manager"
        )
        expect(first.destroy(), is: PRESSUREKIT_OK)

        let again = try second.cache("notes")
        expect(unsafe pressurekit_add_keyed_cache(second.manager, "tiles", nil, &tiles), is: PRESSUREKIT_OK)
        expect(
            unsafe pressurekit_restore_state(second.manager, directory, nil, nil),
            is: PRESSUREKIT_STATE_REFUSED,
            says: "saved by version \"1\""
        )
        let restored = try unsafe report(pressurekit_restore_state, second, directory, "1")
        #expect((restored.found, restored.caches, restored.missing, restored.failures) == (1, 2, 1, 0))
        #expect(PluginBench.residency(again) == 3)
        #expect(PluginBench.read(again) == .success([1, 2, 3]))
        for key in keys {
            var (pin, count) = (pressurekit_pin_t(0), 0)
            var bytes: UnsafeRawPointer?
            expect(unsafe pressurekit_access_key(tiles, key, key.count, &pin, &bytes, &count), is: PRESSUREKIT_OK)
            #expect(unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count)) == key + [7])
            expect(pressurekit_unpin(pin), is: PRESSUREKIT_OK)
        }
        expect(second.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func placesAreChecked() throws {
        let bench = try PluginBench()
        expect(pressurekit_save_state(bench.manager, nil, nil, nil), is: PRESSUREKIT_BAD_ARGUMENT, says: "NULL")
        let long = String(repeating: "x", count: 256)
        expect(unsafe pressurekit_restore_state(bench.manager, "/x", long, nil), is: PRESSUREKIT_BAD_ARGUMENT)
        var report = pressurekit_state_report()
        expect(unsafe pressurekit_save_state(bench.manager, "/x", nil, &report), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }
}
