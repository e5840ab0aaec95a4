extension PressureController {
    /// Reads every value there is in this controller's caches and those below it, wherever it is: one that is spilled is
    /// read from its copy and stays spilled. What was never loaded, or cannot be encoded, is left out. Blocks.
    ///
    /// - Throws: as reading the values.
    package func digestedValues() throws -> [DigestedValue] {
        var entries: [CacheEntry] = []
        Self.hierarchy.withLock { _ in forEachEntry { entries.append($0) } }
        return try entries.flatMap { try $0.digestedValues() }
    }
}
