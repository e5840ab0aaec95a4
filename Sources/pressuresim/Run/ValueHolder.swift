import PressureKit

/// Where the library holds one value of the scenario: a cache of its own, or a key of a keyed one.
protocol ValueHolder<Value>: Sendable {
    associatedtype Value

    /// Where the value is at this moment.
    var residency: Residency { get }
    /// What has left the memory of the whole cache so far.
    var outflow: CacheOutflow { get }

    /// Reads the value, loading or restoring it first if need be. Blocks.
    func withValue<Result>(_ body: (Value) throws -> Result) throws -> Result

    /// Changes the value in place. Blocks.
    func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result
}

extension LazyCache: ValueHolder {}

/// A value of a keyed cache.
struct KeyedPlace<Value: HeldBytes>: ValueHolder {
    let cache: KeyedCache<Int, Value>
    let key: Int

    var residency: Residency { cache.residency(for: key) }
    var outflow: CacheOutflow { cache.outflow }

    func withValue<Result>(_ body: (Value) throws -> Result) throws -> Result {
        try cache.withValue(for: key, body)
    }

    func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result { try cache.update(for: key, body) }
}
