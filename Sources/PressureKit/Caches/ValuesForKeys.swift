extension KeyedCache {
    /// The values for many keys: those in memory at once, the others loaded or restored side by side, each once however
    /// often its key comes. Never blocks the calling thread.
    ///
    /// - Parameters:
    ///   - keys: In any order.
    ///   - limit: How many are made at a time.
    /// - Throws: the first error there is, as ``withValue(for:_:)`` throws it; what has not begun is left then.
    public func values(for keys: some Sequence<Key>, atMost limit: Int = 8) async throws -> [Key: Value] {
        try await ValuesForKeys.gather(keys, atMost: limit, inMemory: { self.ifLoaded(for: $0) { $0 } }) {
            try await self.value(for: $0)
        }
    }
}

extension AsyncKeyedCache {
    /// The values for many keys: those in memory at once, the others loaded or restored side by side, each once however
    /// often its key comes.
    ///
    /// - Parameters:
    ///   - keys: In any order.
    ///   - limit: How many are made at a time.
    /// - Throws: the first error there is, as ``value(for:)`` throws it; the others are cancelled then. `CancellationError`
    ///   when the calling task is cancelled.
    public func values(for keys: some Sequence<Key>, atMost limit: Int = 32) async throws -> [Key: Value] {
        try await ValuesForKeys.gather(keys, atMost: limit, inMemory: { self.ifLoaded(for: $0) { $0 } }) {
            try await self.value(for: $0)
        }
    }
}

/// Getting many values, a bounded number at a time.
enum ValuesForKeys {
    static func gather<Key: Hashable & Sendable, Value: Sendable>(
        _ keys: some Sequence<Key>,
        atMost limit: Int,
        inMemory: (Key) -> Value?,
        _ make: @escaping @Sendable (Key) async throws -> Value
    ) async throws -> [Key: Value] {
        precondition(limit > 0, "values(for:atMost:) needs a limit of at least one")
        var found: [Key: Value] = [:]
        var missing: Set<Key> = []
        for key in keys where found[key] == nil && !missing.contains(key) {
            if let value = inMemory(key) { found[key] = value } else { missing.insert(key) }
        }
        guard !missing.isEmpty else { return found }
        // The first error leaves the group, which cancels the rest and waits for it.
        return try await withThrowingTaskGroup(of: (Key, Value).self) { group in
            var waiting = missing.makeIterator()
            func addNext() { if let key = waiting.next() { group.addTask { (key, try await make(key)) } } }
            for _ in 0..<limit { addNext() }
            for try await (key, value) in group {
                found[key] = value
                addNext()
            }
            return found
        }
    }
}
