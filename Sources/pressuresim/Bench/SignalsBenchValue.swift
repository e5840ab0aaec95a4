import PressureKit
import SampleContent

/// A value that notes when it is destroyed. It can be made again, so that an eviction drops it: what is measured is how
/// soon a reclaim begins, not how fast it writes.
struct SignalsBenchValue: Spillable {
    /// When the first of some values was destroyed.
    final class Log: Sendable {
        private let first = Lock<MonotonicInstant?>(nil)

        /// The first time since this was made.
        var firstFreed: MonotonicInstant? { first.withLock { $0 } }

        fileprivate func note() {
            let now = SystemClock().now()
            first.withLock { $0 = $0 ?? now }
        }
    }

    private final class Stamp: Sendable {
        let log: Log?

        init(_ log: Log?) { self.log = log }

        deinit { log?.note() }
    }

    private let pages: PageBuffer
    // Declared after the pages, and so destroyed after them.
    private let stamp: Stamp

    /// A mebibyte that is really there.
    init(_ log: Log) {
        var pages = PageBuffer(byteCount: 1 << 20)
        pages.write { SyntheticContent(compressibility: 0, seed: 1).fill(&$0, index: 0) }
        self.pages = pages
        stamp = Stamp(log)
    }

    var spillByteCount: Int { pages.spillByteCount }

    func withSpillBytes(_ body: (RawSpan) -> Void) { pages.withSpillBytes(body) }

    init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        pages = unsafe try PageBuffer(spillByteCount: spillByteCount, restoringWith: fill)
        stamp = Stamp(nil)
    }
}
