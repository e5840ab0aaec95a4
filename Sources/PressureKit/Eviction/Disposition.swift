import PressureSystem

/// What may become of a value when memory is short: a set, as UIKit's orientations are one.
///
/// ```
/// manager's set  ∩  controller's set  ∩  cache's set   =  what is open to a reclaim
/// ```
///
/// All three contain everything unless they say otherwise. A cache without a loader never has ``drop``. An empty result
/// is an error when the cache is registered, or when its controller joins the manager's tree.
public struct Disposition: OptionSet, Hashable, Sendable {
    /// The members as bits.
    public let rawValue: UInt8

    /// Creates a set from bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The value may stay. Without this, a delegate cannot veto (`shouldEvict`), and with nothing else it never leaves.
    public static let keep = Disposition(rawValue: 1 << 0)
    /// The value may leave for a compressed copy in memory.
    public static let compress = Disposition(rawValue: 1 << 1)
    /// The value may leave for a checked copy in the spill file.
    public static let spill = Disposition(rawValue: 1 << 2)
    /// The value may be dropped; its loader makes it again.
    public static let drop = Disposition(rawValue: 1 << 3)

    /// Everything.
    public static let all: Disposition = [.keep, .compress, .spill, .drop]
}

extension Disposition: CustomStringConvertible {
    /// Such as `"[keep, spill]"`.
    public var description: String {
        let names: [(Disposition, String)] = [
            (.keep, "keep"), (.compress, "compress"), (.spill, "spill"), (.drop, "drop"),
        ]
        return "[\(names.filter { contains($0.0) }.map(\.1).joined(separator: ", "))]"
    }
}

extension PressureError {
    /// Nothing is left of the three sets of a cache.
    static func noDisposition(
        _ name: String,
        path: String,
        cache: Disposition,
        controller: Disposition,
        manager: Disposition?,
        hasLoader: Bool
    ) -> PressureError {
        let managers = manager.map { ", the manager \($0)" } ?? ""
        let reason = hasLoader ? "" : " It has no loader, so it cannot be dropped."
        return PressureError(
            code: .invalidConfiguration,
            message: """
                Nothing may become of "\(name)" when memory is short: the cache supports \(cache), its controller \
                \(controller)\(managers), and no disposition is in all of them.\(reason) Add one.
                """,
            path: path
        )
    }

    /// A controller and a manager have nothing in common.
    static func noDisposition(_ path: String, controller: Disposition, manager: Disposition) -> PressureError {
        PressureError(
            code: .invalidConfiguration,
            message: """
                Nothing may become of the caches of "\(path)" when memory is short: the controller supports \
                \(controller), the manager \(manager). Add a disposition to one of them.
                """,
            path: path
        )
    }
}
