/// How short memory is, in the words of Dispatch's memory-pressure source.
public enum PressureLevel: Int, Sendable, Comparable, CaseIterable, CustomStringConvertible {
    /// Memory is plentiful.
    case normal = 0
    /// Memory is getting short: give up what is cheap to get back.
    case warning = 1
    /// Memory is about to run out: give up everything that is not in use.
    case critical = 2

    /// Whether `left` is the milder one.
    public static func < (left: PressureLevel, right: PressureLevel) -> Bool { left.rawValue < right.rawValue }

    /// `"normal"`, `"warning"` or `"critical"`.
    public var description: String {
        switch self {
        case .normal: "normal"
        case .warning: "warning"
        case .critical: "critical"
        }
    }
}
