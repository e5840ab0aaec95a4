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

/// What is free in a process's heap and in memory nevertheless, in bytes.
package struct HeapReading: Hashable, Sendable, BitwiseCopyable {
    /// What the next values find there: less what was free when it was read last than values have taken since. Negative if that is
    /// less than the rest of the process had in use a moment ago.
    package var usable = 0
    /// What can be given back to the system at once, with what values are likely to have left there since.
    package var reclaimable = 0
    /// Whether giving it back brings much: the system got at least half of it last time.
    package var yieldsMuch = true

    /// Nothing, unless it is said.
    package init(usable: Int = 0, reclaimable: Int = 0, yieldsMuch: Bool = true) {
        self.usable = usable
        self.reclaimable = reclaimable
        self.yieldsMuch = yieldsMuch
    }
}
