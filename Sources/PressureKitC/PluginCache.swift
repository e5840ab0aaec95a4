import CPressureKit
import Glibc
import PressureKit

/// A cache of the plugin's: one value, in a controller of its own, so that it can be shown, hidden and removed.
final class PluginCache: Sendable {
    /// The most bytes of a value, 1 TiB: what is more is a mistake.
    static let mostBytes = 1 << 40

    private let controller: PressureController
    private let cache: LazyCache<PageBuffer>
    private let callbacks: PluginCallbacks

    /// Registers a cache.
    ///
    /// - Throws: ``PluginFailure`` about the name.
    init(_ name: String, _ callbacks: PluginCallbacks, in manager: PressureManager) throws {
        guard !name.isEmpty, !name.contains("/") else {
            throw PluginFailure.badArgument("The name is \"\(name)\"; it must not be empty or contain a slash.")
        }
        controller = PressureController(name)
        self.callbacks = callbacks
        cache =
            callbacks.canLoad
            ? try controller.cache("value") { try callbacks.load() }
            : try controller.cache("value", of: PageBuffer.self)
        do throws(PressureError) {
            try manager.root.addChild(controller)
        } catch {
            throw error.code == .duplicateIdentifier ? PluginFailure.duplicate(name) : PluginFailure(error)
        }
    }

    /// Takes the cache out of its manager's tree. Blocks until its callbacks have ended; none is called any more.
    func end() {
        controller.removeFromParent()
        callbacks.close()
    }

    /// Whether a callback of this cache is running on the calling thread.
    var isCallingOnThisThread: Bool { callbacks.isCallingOnThisThread }

    /// Loads or restores the value, and keeps it where it is.
    func pin() throws -> PluginPin {
        try refuseCallbacks()
        return PluginPin(try cache.heldLease())
    }

    /// A load that changed what it is making would be made again, for ever; and one that read it would wait for itself.
    private func refuseCallbacks() throws {
        guard !isCallingOnThisThread else { throw PluginFailure.recursive("This is a callback of that cache.") }
    }

    /// Where the value is.
    var residency: Int32 {
        let residency =
            switch cache.residency {
            case .unloaded: PRESSUREKIT_UNLOADED
            case .resident: PRESSUREKIT_RESIDENT
            case .compressed: PRESSUREKIT_COMPRESSED
            case .spilled: PRESSUREKIT_SPILLED
            case .loading, .restoring: PRESSUREKIT_BUSY
            }
        return Int32(residency)
    }

    func show(_ isVisible: Bool) {
        if isVisible { controller.appear() } else { controller.disappear() }
    }

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
