import PressureSystem

/// The shards of a keyed cache, each with its lock on cache lines of its own.
///
/// Plain memory, not objects: two threads that hit different shards must not meet at a reference count.
@safe @usableFromInline
struct KeyedShards<Key: Hashable & Sendable, Value: Spillable>: @unchecked Sendable {
    // Sendable and safe: `base` has `count` initialised locks until `deallocate`, and shards are behind them.
    @usableFromInline typealias Guarded = Lock<KeyedShard<Key, Value>>

    /// 2 to this power of shards: several to a core, so that two threads seldom want the same one.
    @inlinable static var bits: UInt32 { 5 }
    @inlinable static var count: Int { 1 << bits }

    @usableFromInline let base: UnsafeMutableRawPointer

    /// - Parameter isMortal: whether values end.
    init(isMortal: Bool = false) {
        unsafe base = .allocate(byteCount: Self.frontsSize + Self.count * Self.stride, alignment: 128)
        for number in 0..<Self.count {
            let front = front(number)
            front.initialize()
            unsafe self[number].initialize(to: Lock(KeyedShard(number: number, isMortal: isMortal, front: front)))
        }
    }

    /// Frees all shards. Nobody holds a slot any more.
    func deallocate() {
        for number in 0..<Self.count {
            unsafe self[number].pointee.withLock { $0.deallocate() }
            unsafe self[number].deinitialize(count: 1)
        }
        unsafe base.deallocate()
    }

    /// Whole pairs of cache lines, which processors fetch together.
    @inlinable static var stride: Int { (MemoryLayout<Guarded>.size + 127) & ~127 }

    /// What is hardly ever written lies together, before the shards.
    @inlinable static var frontsSize: Int { count * ShardFront.size }

    /// The shard with a number.
    @inlinable
    subscript(number: Int) -> UnsafeMutablePointer<Guarded> {
        unsafe (base + Self.frontsSize + number * Self.stride).assumingMemoryBound(to: Guarded.self)
    }

    /// What readers without the lock see of the shard with a number.
    @inlinable
    func front(_ number: Int) -> ShardFront { unsafe ShardFront(base: base + number * ShardFront.size) }

    /// The same of the shard of a hash.
    @inlinable
    func front(of hash: UInt32) -> ShardFront { front(Int(hash >> (32 - Self.bits))) }

    /// The shard of a hash, by its high bits.
    @inlinable
    func shard(of hash: UInt32) -> UnsafeMutablePointer<Guarded> { unsafe self[Int(hash >> (32 - Self.bits))] }

    /// The sum of what `body` says of each shard, one after the other.
    func sum(_ body: (borrowing KeyedShard<Key, Value>) -> Int) -> Int {
        var sum = 0
        for number in 0..<Self.count { unsafe sum += self[number].pointee.withLock { body($0) } }
        return sum
    }
}
