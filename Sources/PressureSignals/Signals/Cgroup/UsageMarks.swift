package import PressureSystem

/// At what usage the kernel is to notify for a cgroup of version 1, so that nobody has to look. Pure.
///
/// The kernel counts usage with all page cache in it; the levels do without the inactive part. While usage is below what
/// a threshold means with all page cache counted, a mark there cannot come too late, and the wait for it may be long.
/// Above that, page cache fills the cgroup, no mark says anything, and one looks as often as without marks. So marks do not
/// move with the page cache: the kernel would wait for all processors each time, and the monitor with it.
package struct UsageMarks: Hashable, Sendable {
    /// The usage at which warning may begin; `nil` when it has, or when no mark can say.
    package var warning: ByteCount?
    /// The usage at which critical may begin.
    package var critical: ByteCount?
    /// The usage at which less is free than a full cache leaves; see ``Watermarks``.
    package var full: ByteCount?
    /// The level cannot rise without a notification.
    package var isSafe: Bool

    /// No marks.
    package static let none = UsageMarks(warning: nil, critical: nil, full: nil, isSafe: false)

    private init(warning: ByteCount?, critical: ByteCount?, full: ByteCount?, isSafe: Bool) {
        self.warning = warning
        self.critical = critical
        self.full = full
        self.isSafe = isSafe
    }

    /// The marks for a usage; none without a limit.
    package init(_ usage: CgroupUsage, thresholds: PressureThresholds) {
        guard let limit = usage.limit, let headroom = usage.headroom else {
            self = .none
            return
        }
        let bands = thresholds.bytes(of: limit)
        let warning = Self.mark(bands.warningEnter, headroom, usage)
        let critical = Self.mark(bands.criticalEnter, headroom, usage)
        let full = Self.mark(ByteCount(bytes: Watermarks.notice(below: limit)), headroom, usage)
        let available = headroom.available
        let next = available > bands.warningEnter ? warning : available > bands.criticalEnter ? critical : full
        self.init(
            warning: warning,
            critical: critical,
            full: full,
            isSafe: next != nil
        )
    }

    private static func mark(_ enter: ByteCount, _ headroom: Headroom, _ usage: CgroupUsage) -> ByteCount? {
        let early = headroom.limit - enter
        return headroom.available > enter && usage.used < early ? early : nil
    }
}
