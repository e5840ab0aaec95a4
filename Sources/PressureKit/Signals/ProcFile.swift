import CLinuxShims
import Glibc

/// A small text file of the kernel's that is opened once and read many times, as it is each time.
///
/// The descriptor is kept because `open` may fail exactly when memory is short. Safe from any thread.
final class ProcFile: Sendable {
    /// The most that is read. `/proc/meminfo` has 1.6 KB in Linux 6.18, and what we look for is in its first half.
    static let capacity = 4096

    private let descriptor: CInt

    /// Opens a file for reading; the descriptor is not inherited by child processes.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when it cannot be opened.
    init(path: String) throws(PressureError) {
        let descriptor = unsafe pk_open_read(path)  // the string outlives the call
        guard descriptor >= 0 else { throw .signalFileUnavailable(path: path, errno: errno) }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Reads the file from its beginning into the stack and hands the bytes to `body`. Allocates nothing. Does not
    /// wait: the kernel makes the text on the spot.
    ///
    /// - Returns: What `body` returns, or `nil` when the file could not be read.
    func read<Result>(_ body: (borrowing Span<UInt8>) -> Result?) -> Result? {
        var buffer = InlineArray<4096, UInt8>(repeating: 0)
        var bytes = buffer.mutableSpan
        let count = unsafe bytes.withUnsafeMutableBytes { target in
            repeat {
                // The kernel writes at most `target.count` bytes from its start.
                let count = unsafe pread(descriptor, target.baseAddress, target.count, 0)
                if count >= 0 || errno != EINTR { return count }
            } while true
        }
        guard count >= 0 else { return nil }
        return body(buffer.span.extracting(first: count))
    }
}
