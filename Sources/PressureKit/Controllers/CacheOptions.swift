public import PressureSystem

/// What a cache is registered with beside its name and its loader.
///
/// ```swift
/// let tiles = try gallery.keyedCache("tiles", options: .init(limit: .mebibytes(64))) { (id: Int) in try tile(id) }
/// ```
public struct CacheOptions: Sendable, Hashable {
    /// What may become of the values when memory is short; beside it what the controller and the manager support.
    public var supportedDispositions: Disposition

    /// The bytes of values in memory that a keyed cache keeps to on its own, without any pressure; `nil` for no limit.
    ///
    /// Small values that have to be written leave up to 16 at a time, a sixteenth of the limit at most; while they are being
    /// written, others may bring as much.
    public var limit: ByteCount?

    /// The number of values in memory that a keyed cache keeps to, likewise.
    public var countLimit: Int?

    /// How long a value is read after it was loaded, set or updated; `nil` for no end. After that it is as if it had been
    /// invalidated: the next access loads anew, and without a loader there is no value any more.
    ///
    /// By the manager's clock, to within a sixtieth of a second. What a restored state brings counts as written when it was
    /// restored. The memory of a value that has ended is given back when it is asked for, when others come into the cache, and
    /// first of all when memory is short: it is not written to the spill file then.
    public var timeToLive: Duration?

    /// How long a value stays readable when nobody reads it; `nil` for no end. Each read begins it anew.
    public var timeToIdle: Duration?

    /// From what age on a read has the value loaded anew meanwhile, and is given the one there is; `nil` for never.
    ///
    /// Nobody waits. One load at a time for a value, at most four for a cache, on the library's threads or in a task; none
    /// while memory is short. When it fails, the old value stays, and is tried again after as long; the failure is counted and
    /// climbs as that of any load. What was set or updated no loader makes: it is not refreshed. A value that nobody reads is
    /// not either.
    public var refreshAfter: Duration?

    /// Creates options; what is left out is as if no options were given.
    public init(
        supportedDispositions: Disposition = .all,
        limit: ByteCount? = nil,
        countLimit: Int? = nil,
        timeToLive: Duration? = nil,
        timeToIdle: Duration? = nil,
        refreshAfter: Duration? = nil
    ) {
        self.supportedDispositions = supportedDispositions
        self.limit = limit
        self.countLimit = countLimit
        self.timeToLive = timeToLive
        self.timeToIdle = timeToIdle
        self.refreshAfter = refreshAfter
    }
}
