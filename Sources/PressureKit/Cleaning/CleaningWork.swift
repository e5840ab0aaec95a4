/// What a look at all values has found to do in idle time, a bounded list.
@safe
final class CleaningWork: @unchecked Sendable {
    // Sendable and safe: one thread at a time has it; entries are retained while they are listed.

    /// What is to be done for a value.
    enum Task {
        /// It is in memory only: its copy is written ahead of the next warning.
        case copy
        /// Its copy is in memory, or was written in haste: it is written anew, compressed, to the disk.
        case move
        /// Its copy is on a disk that is nearly full: it moves to the server behind that.
        case demote
    }

    /// A value and what is to be done for it.
    @unsafe struct Item {
        var entry: Unmanaged<CacheEntry>
        var slot: UnsafeMutableRawPointer
        var task: Task
    }

    /// The most that is listed; what is over is found by the next look.
    static let capacity = 1024

    private var items: [Item] = unsafe []
    /// Whether there is something to do later: a value that was used a moment ago, or did not fit.
    private(set) var hasMore = false

    init() { unsafe items.reserveCapacity(Self.capacity) }

    deinit { clear() }

    /// Whether nothing is listed.
    var isEmpty: Bool { unsafe items.isEmpty }

    /// Something is to be done, but not yet.
    func postpone() { hasMore = true }

    /// Lists a value.
    func append(_ entry: CacheEntry, _ slot: UnsafeMutableRawPointer, _ task: Task) {
        guard unsafe items.count < Self.capacity else { return postpone() }
        unsafe items.append(Item(entry: .passRetained(entry), slot: slot, task: task))
    }

    /// Passes the next value to `body` and forgets it. Returns `nil` when there is none.
    func withNext<Result>(_ body: (CacheEntry, UnsafeMutableRawPointer, Task) -> Result) -> Result? {
        guard let item = unsafe items.popLast() else { return nil }
        // Retained when it was listed, released here.
        let entry = unsafe item.entry.takeRetainedValue()
        return unsafe body(entry, item.slot, item.task)
    }

    /// Forgets everything.
    func clear() {
        while unsafe withNext({ _, _, _ in }) != nil {}
        hasMore = false
    }
}
