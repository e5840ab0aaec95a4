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
            processorStall: processor?.read { Self.someTotal($0) },
            deviceStall: device?.read { Self.someTotal($0) }
        )
    }

    /// Of `"0.31 1.32 2.26 3/612 12345"`, the 3.
    static func runnable(_ text: borrowing Span<UInt8>) -> Int? {
        var index = 0
        for _ in 0..<3 {
            while index < text.count, text[index] != UInt8(ascii: " ") { index += 1 }
            index += 1
        }
        return number(text, &index).map { Int(clamping: $0) }
    }

    /// Of the line that begins with `some`, the number after `total=`.
    static func someTotal(_ text: borrowing Span<UInt8>) -> UInt64? {
        let key: StaticString = "total="
        guard text.count >= 4, text[0] == UInt8(ascii: "s") else { return nil }
        var index = 0
        while index < text.count, text[index] != UInt8(ascii: "\n") {
            var matched = 0
            // Both indices are checked against their lengths.
            while matched < key.utf8CodeUnitCount, index + matched < text.count,
                unsafe text[index + matched] == key.utf8Start[matched]
            { matched += 1 }
            if matched == key.utf8CodeUnitCount {
                index += matched
                return number(text, &index)
            }
            index += 1
        }
        return nil
    }

    /// Decimal digits from `index` on; `nil` when there are none or too many.
    private static func number(_ text: borrowing Span<UInt8>, _ index: inout Int) -> UInt64? {
        var value: UInt64 = 0
        let start = index
        while index < text.count, text[index] >= UInt8(ascii: "0"), text[index] <= UInt8(ascii: "9") {
            let (shifted, isTooLong) = value.multipliedReportingOverflow(by: 10)
            guard !isTooLong else { return nil }
            let (sum, isTooLarge) = shifted.addingReportingOverflow(UInt64(text[index] - UInt8(ascii: "0")))
            guard !isTooLarge else { return nil }
            value = sum
            index += 1
        }
        return index > start ? value : nil
    }
}
