/// Whether one pressure signal works here, and if not, why and what would help.
///
/// A signal that cannot be used is no failure: another one takes its place. But it is never silent about it, so that
/// `pressuresim doctor` and ``PressureSnapshot/signals`` can tell.
public struct SignalStatus: Hashable, Sendable {
    /// How far a signal can be relied on, from nothing to proven.
    public enum State: String, Sendable, CaseIterable, Comparable {
        /// It does not exist here, may not be read, or says nothing.
        case unavailable
        /// It can be read, and is, from time to time.
        case available
        /// The kernel, or another program, has promised to wake the monitor by it.
        case armed
        /// It has woken the monitor at least once, and what it said was true.
        case verified

        private var rank: Int {
            switch self {
            case .unavailable: 0
            case .available: 1
            case .armed: 2
            case .verified: 3
            }
        }

        /// Whether `left` is less to rely on.
        public static func < (left: State, right: State) -> Bool { left.rank < right.rank }
    }

    /// What kind of signal it is.
    public var origin: PressureCause.Origin
    /// Where it is read: a path, or the name of what stands for one.
    public var source: String
    /// How far it can be relied on.
    public var state: State
    /// One sentence: what it does here, or why it does nothing.
    public var detail: String
    /// One sentence: how to give the process what is missing; `nil` when nothing is, or nothing can be done.
    public var remedy: String?

    /// Creates a status.
    public init(
        origin: PressureCause.Origin,
        source: String,
        state: State,
        detail: String,
        remedy: String? = nil
    ) {
        self.origin = origin
        self.source = source
        self.state = state
        self.detail = detail
        self.remedy = remedy
    }
}

extension SignalStatus: CustomStringConvertible {
    /// One line: `"armed: psi (/proc/pressure/memory): 150 ms of stall in 2 s wake the monitor."`
    public var description: String {
        let help = remedy.map { " \($0)" } ?? ""
        return "\(state.rawValue): \(origin.rawValue) (\(source)): \(detail)\(help)"
    }
}
