import CPressureKit
import PressureKit

/// A keyed cache of the plugin's, in a controller of its own.
final class PluginKeyedCache: AnyPluginCache {
    static let kind = "keyed cache"

    let controller: PressureController
    let callbacks: PluginCallbacks
    private let cache: KeyedCache<PluginKey, PageBuffer>

    /// Registers a cache.
    ///
    /// - Throws: ``PluginFailure`` about the name.
    init(_ name: String, _ callbacks: PluginCallbacks, _ options: CacheOptions, in manager: PressureManager) throws {
        controller = try Self.controller(name)
        self.callbacks = callbacks
        cache =
            callbacks.canLoad
            ? try controller.keyedCache("values", options: options) { try callbacks.load($0) }
            : try controller.keyedCache("values", options: options)
        try add(to: manager)
    }

    /// Loads or restores the value for `key`, and keeps it where it is.
    func pin(_ key: PluginKey) throws -> PluginPin {
        try refuseCallbacks()
        return PluginPin(try cache.heldLease(for: key))
    }

    /// Where the value for `key` is.
    func residency(_ key: PluginKey) -> Int32 { cache.residency(for: key).inC }

    /// How many keys have a value, wherever it is.
    var count: Int { cache.count }

    func set(_ bytes: UnsafeRawBufferPointer, for key: PluginKey) throws {
        try refuseCallbacks()
        cache.set(unsafe try PageBuffer(checking: bytes), for: key)
    }

    func invalidate(_ key: PluginKey) throws {
        try refuseCallbacks()
        cache.invalidate(for: key)
    }

    /// Passes the bytes of the value for `key` to a function of the app's, to be changed.
    func update(_ key: PluginKey, _ function: (UnsafeMutableRawBufferPointer) -> Int32) throws {
        try refuseCallbacks()
        try cache.update(for: key) { unsafe try callbacks.update(&$0, function) }
    }
}
