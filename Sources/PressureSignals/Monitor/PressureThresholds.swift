public import PressureSystem

/// How little memory must be left before the level rises, and how much must be back before it falls again.
///
/// Parts of the limit are bounded in bytes, because 20 % of 512 GiB is no shortage. The defaults:
///
/// | | enter | leave | at most | at least |
/// |---|---|---|---|---|
/// | warning | 20 % | 25 % | 4 GiB | |
/// | critical | 10 % | 15 % | 1 GiB | 64 MiB |
///
/// 20 % is where nohang warns and 25 % Chromium's moderate level; 10 % is where earlyoom sends its first signal. Later
/// ones (5 % in Firefox and WebKit) leave no room to write memory out.
public struct PressureThresholds: Hashable, Sendable {
    /// One level's pair of thresholds.
    public struct Band: Hashable, Sendable {
        /// The level is entered when this part of the limit or less is available; more than 0, less than `leave`.
        public var enter: Double
        /// It is left when this part or more is available; less than 1.
        public var leave: Double
        /// The level is never entered with more than this available; `nil` for no such bound. `leave` moves along.
        public var atMost: ByteCount?
        /// It is always entered with this or less available, as far as a small limit allows: critical never takes more
        /// than three quarters of what warning has, so that warning comes first. `leave` moves along.
        public var atLeast: ByteCount

        /// Creates a band.
        public init(enter: Double, leave: Double, atMost: ByteCount? = nil, atLeast: ByteCount = .zero) {
            self.enter = enter
            self.leave = leave
            self.atMost = atMost
            self.atLeast = atLeast
        }
    }

    /// The band of ``PressureLevel/warning``.
    public var warning: Band
    /// The band of ``PressureLevel/critical``.
    public var critical: Band
    /// How much waiting for memory raises the level.
    public var stall: StallThresholds

    /// Creates thresholds. Nothing is checked before ``validate()``, which a manager calls when it is made.
    public init(
        warning: Band = Band(enter: 0.20, leave: 0.25, atMost: .gibibytes(4)),
        critical: Band = Band(enter: 0.10, leave: 0.15, atMost: .gibibytes(1), atLeast: .mebibytes(64)),
        stall: StallThresholds = StallThresholds()
    ) {
        self.warning = warning
        self.critical = critical
        self.stall = stall
    }

    /// The thresholds in bytes for one limit, which must be positive. Pure; allocates nothing.
    ///
    /// Requires thresholds that ``validate()`` accepts. Then critical is entered below warning, and both can be left.
    package func bytes(of limit: ByteCount) -> ThresholdBytes {
        // `leave` is at most 7/8 of the limit on account of `atLeast`.
        let warningEnter = warning.enter(of: limit, raisedTo: Int(Double(limit.bytes) * 0.875 / warning.ratio))
        let warningLeave = warning.leave(enter: warningEnter)
        let criticalEnter = critical.enter(of: limit, raisedTo: warningEnter / 4 * 3)
        let criticalLeave = min(critical.leave(enter: criticalEnter), warningLeave)
        return ThresholdBytes(
            warningEnter: ByteCount(bytes: warningEnter),
            warningLeave: ByteCount(bytes: warningLeave),
            criticalEnter: ByteCount(bytes: criticalEnter),
            criticalLeave: ByteCount(bytes: criticalLeave)
        )
    }
}

extension PressureThresholds.Band {
    fileprivate var ratio: Double { leave / enter }

    /// `atMost` lowers the part of the limit, `atLeast` raises it, but not above `ceiling`.
    fileprivate func enter(of limit: ByteCount, raisedTo ceiling: Int) -> Int {
        let part = Int(enter * Double(limit.bytes))
        return max(min(part, atMost?.bytes ?? part), min(atLeast.bytes, ceiling))
    }

    fileprivate func leave(enter bytes: Int) -> Int { Int((Double(bytes) * ratio).rounded(.up)) }
}
