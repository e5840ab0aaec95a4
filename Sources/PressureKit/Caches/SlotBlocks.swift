import Synchronization

/// The blocks in which a shard has its slots. A block never moves; what lists them is replaced by one of twice the length,
/// and kept for readers without the lock: a quarter of a byte a slot.
@safe @usableFromInline
struct SlotBlocks {
    // Safe: `list` has room for `capacity` blocks, of which `count` are there; `published` outlives this.
    @usableFromInline typealias List = UnsafeMutablePointer<UnsafeMutableRawPointer>

    @usableFromInline private(set) var list: List
    private(set) var count = 0
    private var capacity = 4
    private var outdated: [List] = unsafe []
    private let published: UnsafeMutablePointer<Atomic<UInt>>?

    /// - Parameter published: where the list's address is to stand for readers without the lock.
    init(published: UnsafeMutablePointer<Atomic<UInt>>? = nil) {
        unsafe list = .allocate(capacity: capacity)
        unsafe self.published = published
        publish()
    }

    /// Adds a block.
    mutating func append(_ block: UnsafeMutableRawPointer) {
        if count == capacity {
            unsafe outdated.append(list)
            let old = unsafe list
            capacity *= 2
            unsafe list = .allocate(capacity: capacity)
            unsafe list.initialize(from: old, count: count)
        }
        unsafe (list + count).initialize(to: block)
        count += 1
        // Before any cell names a slot in it.
        publish()
    }

    /// Frees all. Nobody reads any more.
    func deallocate() {
        for index in 0..<count { unsafe list[index].deallocate() }
        unsafe list.deallocate()
        for index in unsafe outdated.indices { unsafe outdated[index].deallocate() }
    }

    private func publish() { unsafe published?.pointee.store(UInt(bitPattern: list), ordering: .releasing) }
}
