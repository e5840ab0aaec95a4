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
    public var limit: ByteCount?

    /// The number of values in memory that a keyed cache keeps to, likewise.
    public var countLimit: Int?

    /// Creates options; what is left out is as if no options were given.
    public init(
        supportedDispositions: Disposition = .all,
        limit: ByteCount? = nil,
        countLimit: Int? = nil
    ) {
        self.supportedDispositions = supportedDispositions
        self.limit = limit
        self.countLimit = countLimit
    }
}
