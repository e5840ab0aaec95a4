import PressureSignals
import PressureSystem

/// Reads how busy the processors and devices are that this process may use: the calling thread's own waits, from
/// `/proc/thread-self/schedstat` (the kernel's Documentation/scheduler/sched-stats.rst: nanoseconds on a processor, and
/// nanoseconds waiting for one), and, where the kernel keeps them, the stalls of the process's own cgroup.
///
/// Three reads of text that the kernel makes on the spot, about 30 µs together; no allocation but the first time on a
/// thread. What is not there counts as no obstacle.
final class BusyProbe: Sendable {
    private let context: SignalContext
    private let processor: ProcFile?
    private let device: ProcFile?
    /// The file of the thread that asked last: what `thread-self` means is settled when it is opened.
    private let own = Lock<(thread: UInt32, file: ProcFile?)>((0, nil))

    /// Opens the files.
    init(_ context: SignalContext = SignalContext()) {
        self.context = context
        let directory = CgroupLayout.current(context)?.unified.first
        func stalls(_ name: String) -> ProcFile? { directory.flatMap { try? ProcFile(path: "\($0)/\(name).pressure") } }
        // A processor is not looked for on the whole host, of which this may be a small part; devices are shared anyway.
        processor = stalls("cpu")
        device = stalls("io") ?? (try? ProcFile(path: context.path("/proc/pressure/io")))
    }

    /// A reading, on the thread that wants to work.
    func read(at now: MonotonicInstant) -> BusyReading {
        let file = own.withLock { own in
            if own.thread != .currentThread {
                own = (.currentThread, try? ProcFile(path: context.path("/proc/thread-self/schedstat")))
            }
            return own.file
        }
        let times = file?.read { Self.times($0) }
        return BusyReading(
            time: now,
            ran: times?.ran,
            waited: times?.waited,
            processorStall: processor?.read { StallTotals.parse($0)?.some },
            deviceStall: device?.read { StallTotals.parse($0)?.some }
        )
    }

    /// Of `"10649749 250000 12"`, nanoseconds, the first two numbers in microseconds.
    static func times(_ text: borrowing Span<UInt8>) -> (ran: Int, waited: Int)? {
        guard let blank = text.position(of: UInt8(ascii: " "), in: 0..<text.count),
            let ran = text.decimal(in: 0..<blank)?.value,
            let waited = text.decimal(in: blank + 1..<text.count)?.value
        else { return nil }
        return (ran / 1000, waited / 1000)
    }
}
