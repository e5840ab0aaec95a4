package import PressureSystem

/// The thresholds of both levels in bytes, for one limit.
package struct ThresholdBytes: Hashable, Sendable {
    /// Warning begins with this much available, or less.
    package var warningEnter: ByteCount
    /// Warning ends with this much available, or more.
    package var warningLeave: ByteCount
    /// Critical begins with this much available, or less.
    package var criticalEnter: ByteCount
    /// Critical ends with this much available, or more.
    package var criticalLeave: ByteCount

    /// Below this a level begins; `nil` for normal.
    package func enter(_ level: PressureLevel) -> ByteCount? {
        switch level {
        case .normal: nil
        case .warning: warningEnter
        case .critical: criticalEnter
        }
    }

    /// From this on a level is over; `nil` for normal.
    package func leave(_ level: PressureLevel) -> ByteCount? {
        switch level {
        case .normal: nil
        case .warning: warningLeave
        case .critical: criticalLeave
        }
    }

    /// The level that so much available memory means, when `held` is the level it meant before: between a level's two
    /// thresholds it stays what it was.
    package func level(available: ByteCount, held: PressureLevel) -> PressureLevel {
        if available <= criticalEnter { return .critical }
        if held == .critical, available < criticalLeave { return .critical }
        if available <= warningEnter { return .warning }
        if held >= .warning, available < warningLeave { return .warning }
        return .normal
    }

    /// The bytes to free so that the level is over: up to `leave` for warning; for critical twice its own distance,
    /// and never less than warning would ask for.
    package func goal(available: ByteCount, at level: PressureLevel) -> ByteCount {
        let forWarning = max(.zero, warningLeave - available)
        switch level {
        case .normal: return .zero
        case .warning: return forWarning
        case .critical: return max(forWarning, ByteCount(bytes: 2 * max(0, criticalLeave.bytes - available.bytes)))
        }
    }

    /// How bad it is, from 0 (all of the limit available) through 1/3 (warning begins) and 2/3 (critical begins) to 1
    /// (nothing available), straight lines between.
    package func score(available: ByteCount, limit: ByteCount) -> Double {
        if available > warningEnter { return Self.third(0, available, from: limit, to: warningEnter) }
        if available > criticalEnter { return Self.third(1, available, from: warningEnter, to: criticalEnter) }
        return Self.third(2, available, from: criticalEnter, to: .zero)
    }

    private static func third(
        _ index: Double,
        _ available: ByteCount,
        from high: ByteCount,
        to low: ByteCount
    ) -> Double {
        guard high > low else { return (index + 1) / 3 }
        return (index + Double(high.bytes - available.bytes) / Double(high.bytes - low.bytes)) / 3
    }
}
