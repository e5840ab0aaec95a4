import CLinuxShims
import Glibc
package import PressureSystem

/// A small text file of the kernel's that is opened once and read many times, as it is each time.
///
/// The descriptor is kept because `open` may fail exactly when memory is short. Safe from any thread.
package final class ProcFile: Sendable {
    /// The most that is read. `/proc/meminfo` has 1.6 KB in Linux 6.18, and what we look for is in its first half.
    static let capacity = 4096

    private static let longest = 4 << 20

    /// For waiting only; reading it re-arms the files that notify.
    let descriptor: CInt

    /// Opens a file for reading; the descriptor is not inherited by child processes.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when it cannot be opened.
    package init(path: String) throws(PressureError) {
        let descriptor = unsafe pk_open_read(path)  // the string outlives the call
        guard descriptor >= 0 else { throw .signalFileUnavailable(path: path, errno: errno) }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Reads the file from its beginning into the stack and hands the bytes to `body`. Allocates nothing. Does not
    /// wait: the kernel makes the text on the spot.
    ///
    /// - Returns: What `body` returns, or `nil` when the file could not be read.
    package func read<Result>(_ body: (borrowing Span<UInt8>) -> Result?) -> Result? { read(at: 0, body) }

    private func read<Result>(at offset: Int, _ body: (borrowing Span<UInt8>) -> Result?) -> Result? {
        var buffer = InlineArray<4096, UInt8>(repeating: 0)
        var bytes = buffer.mutableSpan
        let count = unsafe bytes.withUnsafeMutableBytes { target in
            repeat {
                // The kernel writes at most `target.count` bytes from its start.
                let count = unsafe pread(descriptor, target.baseAddress, target.count, offset)
                if count >= 0 || errno != EINTR { return count }
            } while true
        }
        guard count >= 0 else { return nil }
        return body(buffer.span.extracting(first: count))
    }

    /// The error number of a read from the beginning, 0 when it works.
    func fault() -> CInt {
        var byte: UInt8 = 0
        let count = unsafe pread(descriptor, &byte, 1, 0)  // one byte of room
        return count < 0 ? errno : 0
    }

    /// A number that is another one when the text is, but for one case in 2⁶⁴ (FNV-1a). Allocates nothing.
    ///
    /// - Returns: `nil` when the file cannot be read.
    func fingerprint() -> UInt64? {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        var offset = 0
        while offset < Self.longest {
            let count = read(at: offset) { text in
                for index in 0..<text.count { hash = (hash ^ UInt64(text[index])) &* 0x0000_0100_0000_01B3 }
                return text.count
            }
            guard let count else { return nil }
            if count == 0 { break }
            offset += count
        }
        return hash
    }

    /// The whole text, up to 4 MiB.
    ///
    /// - Returns: `nil` when the file cannot be read.
    func readAll() -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < Self.longest {
            let count = read(at: bytes.count) { text in
                for index in 0..<text.count { bytes.append(text[index]) }
                return text.count
            }
            guard let count else { return nil }
            if count == 0 { break }
        }
        return bytes
    }
}
