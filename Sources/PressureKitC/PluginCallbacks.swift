import CPressureKit
import PressureKit

/// The functions of the app's that make the value of a cache, and who is in them.
@safe
final class PluginCallbacks: @unchecked Sendable {
    // Sendable: nothing is changed, and the header has the app promise that its functions may be called, with its
    // context, on any thread.
    private let cacheName: String
    private let loadFunction: pressurekit_load_fn?
    private let keyedLoadFunction: pressurekit_load_key_fn?
    private let releaseFunction: pressurekit_release_fn?
    private let context: UnsafeMutableRawPointer?
    private let gate = PluginGate()

    init(of cacheName: String, _ options: pressurekit_cache_options) {
        self.cacheName = cacheName
        unsafe loadFunction = options.load
        unsafe keyedLoadFunction = nil
        unsafe releaseFunction = options.release
        unsafe context = options.context
    }

    init(of cacheName: String, _ options: pressurekit_keyed_options) {
        self.cacheName = cacheName
        unsafe loadFunction = nil
        unsafe keyedLoadFunction = options.load
        unsafe releaseFunction = options.release
        unsafe context = options.context
    }

    var canLoad: Bool { unsafe loadFunction != nil || keyedLoadFunction != nil }

    /// Whether the calling thread is in one of the functions.
    var isCallingOnThisThread: Bool { gate.isCallingOnThisThread }

    /// Blocks until nobody is in them any more. Then nobody ever is.
    func close() {
        gate.close()
        gate.waitUntilEmpty()
    }

    /// Has the app make the value, and copies it.
    ///
    /// - Throws: ``PluginFailure`` with PRESSUREKIT_LOAD_FAILED or PRESSUREKIT_SHUT_DOWN.
    func load() throws -> PageBuffer {
        guard let load = unsafe loadFunction else { throw PluginFailure.shutDown }
        return unsafe try make { unsafe load(context, $0, $1) }
    }

    /// Has the app make the value for a key, and copies it.
    ///
    /// - Throws: as ``load()``.
    func load(_ key: PluginKey) throws -> PageBuffer {
        guard let load = unsafe keyedLoadFunction else { throw PluginFailure.shutDown }
        return unsafe try key.bytes.withUnsafeBytes { key in
            // An empty array may have no address, but the app gets one.
            let address = unsafe key.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
            return unsafe try make { unsafe load(context, address, key.count, $0, $1) }
        }
    }

    private func make(
        _ load: (UnsafeMutablePointer<UnsafeRawPointer?>, UnsafeMutablePointer<Int>) -> Int32
    ) throws -> PageBuffer {
        try gate.during {
            var address: UnsafeRawPointer?
            // None that a callback gives: one that forgets it has made no empty value.
            var count = -1
            // Both results are ours, and outlive the call; what they come to is what the header asks of the app.
            try callApp("The load callback of \"\(cacheName)\"") { unsafe load(&address, &count) }
            defer { if let address = unsafe address { unsafe releaseFunction?(context, address, count) } }
            guard count != -1 else {
                throw PluginFailure.loadFailed("The load callback of \"\(cacheName)\" gave no number of bytes.")
            }
            guard (0...PluginCache.mostBytes).contains(count) else {
                throw PluginFailure.loadFailed(
                    "The load callback of \"\(cacheName)\" gave \(count) bytes; 0 to 2^40 are allowed."
                )
            }
            guard unsafe count == 0 || address != nil else {
                throw PluginFailure.loadFailed("The load callback of \"\(cacheName)\" gave no address.")
            }
            return try unsafe PageBuffer(checking: UnsafeRawBufferPointer(start: address, count: count))
        }
    }

    /// Has the app change a value.
    ///
    /// - Throws: ``PluginFailure`` with PRESSUREKIT_LOAD_FAILED or PRESSUREKIT_SHUT_DOWN.
    func update(_ value: inout PageBuffer, _ function: (UnsafeMutableRawBufferPointer) -> Int32) throws {
        try gate.during {
            try callApp("The update callback of \"\(cacheName)\"") {
                unsafe value.withUnsafeMutableBytes { unsafe function($0) }
            }
        }
    }
}
