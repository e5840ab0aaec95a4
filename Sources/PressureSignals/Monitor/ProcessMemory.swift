/// What the process itself has in memory, as its monitor asks for it with each sample. Called on the thread that samples;
/// none of it allocates.
package struct ProcessMemory: Sendable {
    /// Its resident bytes, by which its part of a shortage is known; `nil` for all of it.
    package var resident: (@Sendable () -> Int)?
    /// The bytes of values in its caches that can be given back at once.
    package var reclaimable: @Sendable () -> Int
    /// The bytes of values in its caches that have to be written before they can be given back, beyond those.
    package var dirty: @Sendable () -> Int
    /// The bytes that a reclaim takes itself for as long as it lasts, because what leaves has to be written.
    package var writing: @Sendable () -> Int
    /// What is free in its heap.
    package var heap: @Sendable () -> HeapReading

    /// A process of which nothing is known, unless it is said.
    package init(
        resident: (@Sendable () -> Int)? = nil,
        reclaimable: @escaping @Sendable () -> Int = { 0 },
        dirty: @escaping @Sendable () -> Int = { 0 },
        writing: @escaping @Sendable () -> Int = { 0 },
        heap: @escaping @Sendable () -> HeapReading = { HeapReading() }
    ) {
        self.resident = resident
        self.reclaimable = reclaimable
        self.dirty = dirty
        self.writing = writing
        self.heap = heap
    }
}
