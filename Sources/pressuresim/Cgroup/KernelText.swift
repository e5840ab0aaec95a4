import Foundation
import Glibc

/// A file of the kernel's did not take what was written to it.
struct KernelRefusal: Error, Hashable, CustomStringConvertible {
    var path: String
    var errno: Int32

    var description: String {
        // The message is copied before anything else can ask for one.
        unsafe "\(path): \(String(cString: strerror(errno)))"
    }
}

/// The small text files under /proc and /sys: read whole, written in one call.
enum KernelText {
    /// The whole text; `nil` when it cannot be read.
    static func read(_ path: String) -> String? {
        // Such files have no size, so they are read to their end.
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.readToEnd() else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// Writes in a single call, because the kernel takes each one for a command.
    static func write(_ text: String, to path: String) throws(KernelRefusal) {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)  // the string outlives the call
        guard descriptor >= 0 else { throw KernelRefusal(path: path, errno: errno) }
        defer { close(descriptor) }
        var bytes = Array(text.utf8)
        let count = unsafe bytes.withUnsafeMutableBytes { bytes in
            // As many bytes as the array has.
            unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        }
        guard count == text.utf8.count else { throw KernelRefusal(path: path, errno: count < 0 ? errno : EIO) }
    }
}
