import CPressureKit
import PressureKit

/// A cache of the plugin's, with one value or many. It has a controller of its own, so that it can be shown, hidden and
/// removed.
protocol AnyPluginCache: AnyObject, Sendable {
    /// What it is in messages.
    static var kind: String { get }
    var controller: PressureController { get }
    var callbacks: PluginCallbacks { get }
}

extension AnyPluginCache {
    /// The controller of a cache.
    ///
    /// - Throws: ``PluginFailure`` about the name.
    static func controller(_ name: String) throws -> PressureController {
        guard !name.isEmpty, !name.contains("/") else {
            throw PluginFailure.badArgument("The name is \"\(name)\"; it must not be empty or contain a slash.")
        }
        return PressureController(name)
    }

    /// Puts it into its manager's tree.
    ///
    /// - Throws: ``PluginFailure`` when there is a cache of that name.
    func add(to manager: PressureManager) throws {
        do throws(PressureError) {
            try manager.root.addChild(controller)
        } catch {
            throw error.code == .duplicateIdentifier
                ? PluginFailure.duplicate(controller.identifier) : PluginFailure(error)
        }
    }

    /// Takes the cache out of its manager's tree. Blocks until its callbacks have ended; none is called any more.
    func end() {
        controller.removeFromParent()
        callbacks.close()
    }

    /// Whether a callback of this cache is running on the calling thread.
    var isCallingOnThisThread: Bool { callbacks.isCallingOnThisThread }

    /// A load that changed what it is making would be made again, for ever; and one that read it would wait for itself.
    func refuseCallbacks() throws {
        guard !isCallingOnThisThread else { throw PluginFailure.recursive("This is a callback of that cache.") }
    }

    func show(_ isVisible: Bool) {
        if isVisible { controller.appear() } else { controller.disappear() }
    }
}

extension Residency {
    /// As pressurekit.h has it.
    var inC: Int32 {
        let residency =
            switch self {
            case .unloaded: PRESSUREKIT_UNLOADED
            case .resident: PRESSUREKIT_RESIDENT
            case .compressed: PRESSUREKIT_COMPRESSED
            case .spilled: PRESSUREKIT_SPILLED
            case .loading, .restoring: PRESSUREKIT_BUSY
            }
        return Int32(residency)
    }
}
