public import Synchronization

/// Counts hits in lines that each belong to one thread, as long as there are no more than ``threadCount``.
@safe @usableFromInline
struct HitCounts: @unchecked Sendable {
    // Sendable and safe: `lines` are atomics, which live until `deallocate`.
    @usableFromInline let lines: UnsafeMutablePointer<Atomic<Int>>

    /// Threads with a line of their own; the lines of the others are shared by some.
    @inlinable static var threadCount: UInt { 32 }
    @inlinable static var sharedCount: UInt { 8 }
    @inlinable static var stride: Int { 8 }
    private static var size: Int { Int(threadCount + sharedCount) * stride }

    init() {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: Self.size * 8, alignment: 64)
        unsafe lines = memory.bindMemory(to: Atomic<Int>.self, capacity: Self.size)
        for index in 0..<Self.size { unsafe (lines + index).initialize(to: Atomic(0)) }
    }

    func deallocate() { unsafe lines.deallocate() }

    var byteCount: Int { Self.size * MemoryLayout<Int>.stride }

    /// One more hit, by the thread with a number.
    @inlinable
    func add(by number: UInt) {
        guard number < Self.threadCount else { return addShared(by: number) }
        let line = unsafe lines + Int(number) * Self.stride
        // Nobody else writes it.
        unsafe line.pointee.store(line.pointee.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    @usableFromInline
    func addShared(by number: UInt) {
        let line = Int(Self.threadCount + number % Self.sharedCount)
        unsafe (lines + line * Self.stride).pointee.wrappingAdd(1, ordering: .relaxed)
    }

    /// All hits so far.
    var sum: Int {
        var sum = 0
        for line in 0..<Self.size / Self.stride {
            unsafe sum += (lines + line * Self.stride).pointee.load(ordering: .relaxed)
        }
        return sum
    }
}
