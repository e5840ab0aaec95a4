import CLinuxShims

/// A value that one thread at a time publishes and any number read, none of them waiting for another.
///
/// For what is read with every load: behind a lock, readers who have just been given it and get no processor would keep the
/// thread waiting that publishes the next one. Nothing here allocates after `init`.
@safe package final class Published<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
    // Sendable and safe: words that are allocated with this and freed with it, and only touched by atomic operations.
    private let box: UnsafeMutablePointer<UInt64>

    private static var words: Int { (MemoryLayout<Value>.size + 7) / 8 }

    /// Publishes a first value.
    package init(_ value: Value) {
        unsafe box = .allocate(capacity: 1 + 2 * Self.words)
        unsafe box.initialize(repeating: 0, count: 1 + 2 * Self.words)
        store(value)
    }

    deinit { unsafe box.deallocate() }

    /// The value that was published last.
    package var value: Value {
        // As many words as `store` wrote, the bytes of a `Value` among them.
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.words * 8, alignment: 16) { words in
            unsafe pk_read_published(box, words.baseAddress, Self.words)
            return unsafe words.loadUnaligned(as: Value.self)
        }
    }

    /// Publishes another one. By one thread at a time.
    package func store(_ value: Value) {
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.words * 8, alignment: 16) { words in
            unsafe words.initializeMemory(as: UInt8.self, repeating: 0)
            unsafe words.storeBytes(of: value, as: Value.self)
            unsafe pk_publish(box, words.baseAddress, Self.words)
        }
    }
}
