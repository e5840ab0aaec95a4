import Glibc
package import PressureSystem

/// How much physical memory this process holds, from `/proc/self/statm`. Safe from any thread.
///
/// The file is opened once: a child made by fork(2) must make its own, for the old one goes on to describe the parent.
package final class ProcessFootprint: Sendable {
    private let file: ProcFile
    private let pageSize: Int

    /// Opens the file once, for all readings.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when it cannot be opened.
    ///
    /// - Parameter path: Another file of the same form, for tests.
    package init(path: String = "/proc/self/statm") throws(PressureError) {
        file = try ProcFile(path: path)
        pageSize = sysconf(CInt(_SC_PAGESIZE))
    }

    /// Resident bytes, shared pages included. Allocates nothing; takes a few microseconds.
    ///
    /// The kernel counts in batches per CPU: a few hundred KiB freed a moment ago may be missing still.
    ///
    /// - Returns: 0 when the file cannot be read.
    package func residentBytes() -> Int { (file.read { Self.residentPages($0) } ?? 0) * pageSize }

    /// The second of the seven numbers of statm, see proc_pid_statm(5).
    ///
    /// - Returns: `nil` when there are no two numbers, or when the product with any page size might not fit.
    static func residentPages(_ text: borrowing Span<UInt8>) -> Int? {
        guard let size = text.decimal(in: 0..<text.count), let resident = text.decimal(in: size.next..<text.count),
            resident.value < Int.max >> 16  // 64 KiB is the largest page
        else { return nil }
        return resident.value
    }
}
