package import PressureSystem

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
        /// The bytes that were written there, to be taken off by ``WritebackWindow/finished(_:)``.
        var finishBytes = 0
    }

    /// Bytes of a window where nothing speaks for a shorter one.
    package static let longest = 8 << 20
    /// Shorter ones would wait for the device more than they write.
    private static let shortest = 512 << 10

    /// The bytes of a window under a limit on memory that counts the page cache: two of them are a sixteenth of it.
    package static func length(under limit: ByteCount?) -> Int {
        min(longest, max(shortest, (limit?.bytes ?? .max) / 32))
    }

    /// Bytes of a window. A change holds for the one that is open, too.
    var length: Int
    /// Whether nobody waits for what is written. It comes in a trickle then, and what is in a window takes the place of values
    /// until it is full: an eighth of the length is enough.
    var isSteady = false
    /// The most bytes that are to be on their way to the device.
    var most: Int
    private var open: Range?
    private var openBytes = 0
    private var started: Range?
    private var startedBytes = 0
    /// Bytes that were written and are not known to be on the device and out of the page cache.
    private(set) var underWay = 0

    init(length: Int = Self.longest, most: Int = .max) {
        self.length = length
        self.most = most
    }

    /// Whether more is under way than is to be.
    var isOver: Bool { underWay > most }

    /// Whether there is something that nobody has begun to wait for.
    var hasOpen: Bool { open != nil || started != nil }

    /// Notes a finished write. The windows' ranges may cover frames in between that others are writing: starting
    /// those early and dropping clean pages does no harm.
    mutating func wrote(at offset: Int64, count: Int) -> Steps {
        let upper = offset + Int64(count)
        open = Range(lower: min(open?.lower ?? offset, offset), upper: max(open?.upper ?? upper, upper))
        openBytes += count
        underWay += count
        let enough = isSteady ? min(length, max(Self.shortest, length / 8)) : length
        return openBytes >= enough ? close() : Steps()
    }

    /// What was to be finished is on the device, or is lost, and in either case no longer under way.
    mutating func finished(_ steps: Steps) { underWay -= steps.finishBytes }

    /// Ends the open window early: everything noted so far is to be started, or finished.
    mutating func drain() -> Steps {
        var steps = close()
        // Both are to be waited for now; finishing starts what is not started.
        if let first = steps.finish, let second = steps.start {
            steps.finish = Range(lower: min(first.lower, second.lower), upper: max(first.upper, second.upper))
        } else {
            steps.finish = steps.start ?? steps.finish
        }
        steps.finishBytes += startedBytes
        started = nil
        startedBytes = 0
        return steps
    }

    private mutating func close() -> Steps {
        let steps = Steps(start: open, finish: started, finishBytes: startedBytes)
        started = open
        startedBytes = openBytes
        open = nil
        openBytes = 0
        return steps
    }
}
