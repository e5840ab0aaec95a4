/// How much memory is left, as parts of limits, 0 … 1: by it is decided whether waiting and counters mean anything.
struct MemoryLeft: Hashable, Sendable {
    /// Of the limit of which least is left, the machine's among them; `nil` when nobody knows.
    var least: Double?
    /// Of the machine's memory.
    var host: Double?
    /// Whether much of it waits for a disk, or did a moment ago.
    var waitsForDisk = false
}
