package import Foundation
import Glibc

/// Files that somebody names, read up to a bound. Only regular ones: a device has no end, and a pipe may keep its reader
/// waiting for ever.
package enum BoundedInput {
    /// Why there are no bytes.
    package enum Refusal: Error, Hashable {
        /// In the system's words, or ours: "No such file or directory", "Is a directory".
        case unreadable(String)
        case tooLarge
    }

    /// All bytes of a file.
    ///
    /// - Parameter goesOn: looks at the first bytes, up to a mebibyte; on `false` they are all that is read.
    package static func read(
        _ path: String,
        atMost limit: Int,
        if goesOn: (Data) -> Bool = { _ in true }
    ) throws(Refusal) -> Data {
        // Opening a pipe would wait for who writes to it. The string outlives the call.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(reason(errno)) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        // The structure outlives the call.
        guard unsafe fstat(descriptor, &status) == 0 else { throw .unreadable(reason(errno)) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return try read(file, atMost: limit, if: goesOn)
        case S_IFDIR: throw .unreadable(reason(EISDIR))
        default: throw .unreadable("Not a regular file")
        }
    }

    /// The same of all bytes that are left in a file.
    package static func read(
        _ file: FileHandle,
        atMost limit: Int,
        if goesOn: (Data) -> Bool = { _ in true }
    ) throws(Refusal) -> Data {
        var data = Data()
        do {
            // A little more than is allowed says that there is more.
            while data.count <= limit, let more = try file.read(upToCount: min(limit + 1 - data.count, 1 << 20)),
                !more.isEmpty
            {
                let isFirst = data.isEmpty
                data += more
                if isFirst, !goesOn(data) { return data }
            }
        } catch {
            throw .unreadable("Input/output error")
        }
        guard data.count <= limit else { throw .tooLarge }
        return data
    }

    private static func reason(_ number: CInt) -> String {
        // strerror gives a string with an end, which is copied at once.
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }
}
