public import Synchronization

/// What readers without the lock see of a shard: where its cells and its blocks are now. Written when they grow.
@safe @usableFromInline
struct ShardFront: @unchecked Sendable {
    // Sendable and safe: two atomics, which live as long as the shards.
    @usableFromInline let base: UnsafeMutableRawPointer

    @inlinable static var size: Int { 2 * MemoryLayout<Atomic<UInt>>.stride }

    @inlinable init(base: UnsafeMutableRawPointer) { unsafe self.base = base }

    func initialize() {
        unsafe cells.initialize(to: Atomic(0))
        unsafe blocks.initialize(to: Atomic(0))
    }

    @inlinable var cells: UnsafeMutablePointer<Atomic<UInt>> { unsafe base.assumingMemoryBound(to: Atomic<UInt>.self) }

    @inlinable var blocks: UnsafeMutablePointer<Atomic<UInt>> { unsafe cells + 1 }
}
