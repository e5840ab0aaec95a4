extension FaultyFileSystem {
    /// Runs `body` with a new disk whose first call fails, then with one whose second call does, and so on, until a run
    /// has not met the fault.
    ///
    /// ```swift
    /// try await FaultyFileSystem.forEachCall(failingWith: .error(EIO), on: .write) { disk in
    ///     guard let manager = try? PressureManager(configuration: .testing(disk: disk)) else { return }
    ///     …
    /// }
    /// ```
    ///
    /// Making a manager writes, too: on a disk that fails then there is none, which is no loss. Heal the disk with `set(nil)` before reading back values that have no loader.
    ///
    /// - Parameters:
    ///   - fault: What goes wrong.
    ///   - operation: The calls that are counted; `nil` counts all.
    ///   - mostCalls: How often at most.
    ///   - body: What is tried.
    /// - Returns: how many runs met the fault.
    /// - Throws: what `body` throws.
    @discardableResult
    public static func forEachCall(
        failingWith fault: Fault,
        on operation: Operation? = nil,
        atMost mostCalls: Int = 10_000,
        _ body: (FaultyFileSystem) async throws -> Void
    ) async throws -> Int {
        for number in 1...max(1, mostCalls) {
            let disk = FaultyFileSystem()
            disk.set(Rule(fault, on: operation, .once(number)))
            try await body(disk)
            if disk.allFaults == 0 { return number - 1 }
        }
        return mostCalls
    }
}
