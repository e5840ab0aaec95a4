import Foundation

/// A nameless file in the spill directory, for the limits that write and read.
final class BenchFile {
    private let descriptor: CInt
    private let isDirect: Bool

    /// - Parameter isDirect: whether it is written past the page cache, if the file system does that: in whole pages then.
    /// - Throws: ``BenchRefusal`` when the directory takes no file.
    init(directory: String, isDirect: Bool = false) throws {
        var template = Array("\(directory)/pressuresim-bench.XXXXXX\0".utf8CString)
        descriptor = unsafe template.withUnsafeMutableBufferPointer { unsafe mkstemp($0.baseAddress!) }
        guard descriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno))
            throw BenchRefusal(description: "\(directory) takes no file: \(reason). Use --spill-directory.")
        }
        unsafe template.withUnsafeBufferPointer { unsafe _ = unlink($0.baseAddress!) }
        // O_DIRECT, which Glibc's module leaves out; its number differs between processors.
        #if arch(arm64)
        let direct: CInt = 0o200000
        #else
        let direct: CInt = 0o40000
        #endif
        self.isDirect = isDirect && fcntl(descriptor, F_SETFL, direct) == 0
    }

    deinit { close(descriptor) }

    /// Writes all bytes at an offset; past the page cache whole pages, of which the last has to be there.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
        // A page buffer ends with a page of its own.
        let bytes =
            isDirect
            ? unsafe UnsafeRawBufferPointer(start: bytes.baseAddress, count: (bytes.count + 4095) & ~4095)
            : unsafe bytes
        var done = 0
        while done < bytes.count {
            // Within the buffer.
            let count = unsafe pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset + done))
            guard count > 0 else { throw BenchRefusal.system("pwrite") }
            done += count
        }
    }

    /// Reads as many bytes as the buffer has.
    func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws {
        var done = 0
        while done < bytes.count {
            // Within the buffer.
            let count = unsafe pread(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset + done))
            guard count > 0 else { throw BenchRefusal.system("pread") }
            done += count
        }
    }
}

/// The environment does not let the bench measure.
struct BenchRefusal: Error, CustomStringConvertible {
    var description: String

    static func system(_ call: String) -> BenchRefusal {
        let reason = unsafe String(cString: strerror(errno))
        return BenchRefusal(description: "\(call): \(reason). Is there room in the spill directory?")
    }
}
