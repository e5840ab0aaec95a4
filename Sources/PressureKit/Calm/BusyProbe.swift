/// Reads how busy the machine is: `/proc/loadavg` and, where the kernel has it, `/proc/pressure`.
///
/// Three reads of text that the kernel makes on the spot, about 30 µs together; no allocation. What is not there counts
/// as no obstacle.
final class BusyProbe: Sendable {
    private let load: ProcFile?
    private let processor: ProcFile?
    private let device: ProcFile?

    /// Opens the files below `root`.
    init(root: String = "/proc") {
        load = try? ProcFile(path: "\(root)/loadavg")
        processor = try? ProcFile(path: "\(root)/pressure/cpu")
        device = try? ProcFile(path: "\(root)/pressure/io")
    }

    /// A reading.
    func read(at now: MonotonicInstant) -> BusyReading {
        BusyReading(
            time: now,
            runnable: load?.read { Self.runnable($0) },
            processorStall: processor?.read { StallTotals.parse($0)?.some },
            deviceStall: device?.read { StallTotals.parse($0)?.some }
        )
    }

    /// Of `"0.31 1.32 2.26 3/612 12345"`, the 3.
    static func runnable(_ text: borrowing Span<UInt8>) -> Int? {
        var start = 0
        for _ in 0..<3 {
            guard let blank = text.position(of: UInt8(ascii: " "), in: start..<text.count) else { return nil }
            start = blank + 1
        }
        return text.decimal(in: start..<text.count)?.value
    }
}
