/// Cuts a stream of writes into windows of 8 MiB or less: when one is full its write-back is started, and the window before
/// it, which has had a whole window's time to reach the device, is waited for and dropped from the page cache.
///
/// Measured in a 256 MiB cgroup, this wrote four to six times faster than leaving the pages to the kernel, and it was
/// the only way that freed memory as far as the cgroup was concerned. Pure: says what to do, does nothing.
package struct WritebackWindow: Sendable {
    /// A range of the file, in bytes, that covers everything written in a window.
    struct Range: Hashable, Sendable {
        var lower: Int64
        var upper: Int64

        /// Its length.
        var count: Int64 { upper - lower }
    }

    /// What is to be done now.
    struct Steps: Hashable, Sendable {
        /// Begin writing this to the device.
        var start: Range?
        /// Wait for this and drop it from the page cache.
        var finish: Range?
    }

    /// Bytes of a window where nothing speaks for a shorter one.
    package static let longest = 8 << 20
    /// Shorter ones would wait for the device more than they write.
    private static let shortest = 1 << 20

    /// The bytes of a window under a limit on memory that counts the page cache: two of them and the chunks that are being
    /// written are to take no more than a tenth of it.
    package static func length(under limit: ByteCount?) -> Int {
        min(longest, max(shortest, (limit?.bytes ?? .max) / 32))
    }

    private let length: Int
    private var open: Range?
    private var openBytes = 0
    private var started: Range?

    init(length: Int = Self.longest) { self.length = length }

    /// Notes a finished write. The windows' ranges may cover frames in between that others are writing: starting
    /// those early and dropping clean pages does no harm.
    mutating func wrote(at offset: Int64, count: Int) -> Steps {
        let upper = offset + Int64(count)
        open = Range(lower: min(open?.lower ?? offset, offset), upper: max(open?.upper ?? upper, upper))
        openBytes += count
        return openBytes >= length ? close() : Steps()
    }

    /// Ends the open window early: everything noted so far is to be started, or finished.
    mutating func drain() -> Steps {
        var steps = close()
        // Both are to be waited for now; finishing starts what is not started.
        if let first = steps.finish, let second = steps.start {
            steps.finish = Range(lower: min(first.lower, second.lower), upper: max(first.upper, second.upper))
        } else {
            steps.finish = steps.start ?? steps.finish
        }
        started = nil
        return steps
    }

    private mutating func close() -> Steps {
        let steps = Steps(start: open, finish: started)
        started = open
        open = nil
        openBytes = 0
        return steps
    }
}
