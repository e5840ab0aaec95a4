import CPressureKit
import PressureKit

/// A cache of one value, in a controller of its own.
final class PluginCache: AnyPluginCache {
    static let kind = "cache of one value"
    /// The most bytes of a value, 1 TiB: what is more is a mistake.
    static let mostBytes = 1 << 40

    let controller: PressureController
    let callbacks: PluginCallbacks
    private let cache: LazyCache<PageBuffer>

    /// Registers a cache.
    ///
    /// - Throws: ``PluginFailure`` about the name.
    init(_ name: String, _ callbacks: PluginCallbacks, in manager: PressureManager) throws {
        controller = try Self.controller(name)
        self.callbacks = callbacks
        cache =
            callbacks.canLoad
            ? try controller.cache("value") { try callbacks.load() }
            : try controller.cache("value", of: PageBuffer.self)
        try add(to: manager)
    }

    /// Loads or restores the value, and keeps it where it is.
    func pin() throws -> PluginPin {
        try refuseCallbacks()
        return PluginPin(try cache.heldLease())
    }

    /// Where the value is.
    var residency: Int32 { cache.residency.inC }

    func set(_ bytes: UnsafeRawBufferPointer) throws {
        try refuseCallbacks()
        try cache.set(unsafe try PageBuffer(checking: bytes))
    }

    func invalidate() throws {
        try refuseCallbacks()
        try cache.invalidate()
    }

    /// Passes the value's bytes to a function of the app's, to be changed.
    func update(_ function: (UnsafeMutableRawBufferPointer) -> Int32) throws {
        try refuseCallbacks()
        try cache.update { unsafe try callbacks.update(&$0, function) }
    }
}

/// A value that stays where it is for as long as this lives.
final class PluginPin: Sendable {
    private let lease: Lease<PageBuffer>

    init(_ lease: consuming Lease<PageBuffer>) { self.lease = lease }

    /// The value's bytes. They are the pinned value's own, which is neither moved nor changed while the lease lives.
    var bytes: UnsafeRawBufferPointer { unsafe lease.value.withUnsafeBytes { unsafe $0 } }
}

extension PageBuffer {
    /// A copy of bytes.
    ///
    /// - Throws: ``PressureError`` when there is no memory for them.
    init(checking bytes: UnsafeRawBufferPointer) throws {
        unsafe try self.init(spillByteCount: bytes.count) { pages in
            // The new pages have as many bytes, and overlap nothing. There may be none to copy, and no address.
            unsafe pages.copyMemory(from: bytes)
        }
    }
}
