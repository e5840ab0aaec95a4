import PressureSignals

/// Is handed the report of a reclaim, to take it: what it leaves lives until it returns.
package typealias ReclaimReply = @Sendable (_ report: inout EvictionReport?) -> Void

/// A wish for memory.
package struct ReclaimRequest: Sendable {
    /// Why.
    package var cause: PressureCause
    /// How much.
    package var amount: ReclaimAmount
    /// Whether delegates and controllers get a memory warning first.
    package var warns: Bool
    /// Whether the monitor asks.
    package var isMonitored: Bool
    /// Called on the reclaim thread before anything else.
    package var prelude: (@Sendable () -> Void)?
    /// Called once with the report, on the reclaim thread. If it takes the report, caches that the report names are not
    /// kept by the thread any more when whoever waits goes on.
    package var reply: ReclaimReply?

    /// Creates a request.
    package init(
        cause: PressureCause,
        amount: ReclaimAmount,
        warns: Bool,
        isMonitored: Bool = false,
        prelude: (@Sendable () -> Void)? = nil,
        reply: ReclaimReply? = nil
    ) {
        self.cause = cause
        self.amount = amount
        self.warns = warns
        self.isMonitored = isMonitored
        self.prelude = prelude
        self.reply = reply
    }
}
