import PressureSystem
import SpillStore

/// How much of a machine the library's own machinery takes, by the limit on its memory and the processors it may use.
/// Pure.
///
/// Small parts of the limit, since what they protect has to fit into the rest: scratch of all workers a twenty-sixth,
/// pages under write-back a sixteenth, warm pages a thirty-second, plans a sixty-fourth.
package struct Reserves: Hashable, Sendable {
    /// Threads that compress and write in a reclaim.
    package let workers: Int
    /// Bytes of a window of writes to the page cache; see ``WritebackWindow``.
    package let window: Int
    /// The most bytes on their way from the page cache to the device, all threads' together.
    package let writeback: Int
    /// What is to be free beside what a full cache leaves, while values have to be written before they can go.
    package let writing: Int
    /// The most pages that a cache at its limit keeps for its next value.
    package let warmPages: Int

    /// The most values that are looked at together when some are to leave.
    package let plannedValues: Int

    /// Fewer are no choice.
    private static let fewestPlanned = 1024
    /// About 600 KiB of scratch each, so that all of them take no more than a twenty-sixth of the limit.
    private static let limitOfWorker = 16 << 20
    private static let mostBeside = 16 << 20

    /// Sizes for a machine.
    ///
    /// - Parameters:
    ///   - limit: on memory; `nil` for none.
    ///   - processors: that the process may run on.
    ///   - quota: of processor time, in processors; `nil` for none. What is begun of one counts as one, as it does for
    ///     Go's GOMAXPROCS and the JVM's availableProcessors: more threads would only be throttled together.
    ///   - requests: how many writes are waited for at the same time, where that takes no processor: for a server.
    ///   - workers: what the app has asked for.
    package init(limit: ByteCount?, processors: Int, quota: Double?, requests: Int = 1, workers: Int? = nil) {
        let bytes = max(0, limit?.bytes ?? .max)
        let usable = min(max(1, processors), quota.map { max(1, Int(min($0, 1e6).rounded(.up))) } ?? .max)
        self.workers = workers ?? max(1, min(max(usable, requests), bytes / Self.limitOfWorker))
        window = WritebackWindow.length(under: limit)
        // Never more than what threads hold that wait for a window each, the open one and the one before it.
        writeback = min(max(1 << 20, bytes / 16), (self.workers + 2) * window)
        // Beside those pages what is being read, encoded and given back meanwhile.
        writing = writeback + min(bytes / 32, Self.mostBeside)
        warmPages = min(WarmPages.mostBytes, bytes / 32)
        plannedValues = min(PlanStorage.mostCandidates, max(Self.fewestPlanned, bytes / 64 / PlanStorage.bytesOfValue))
    }
}
