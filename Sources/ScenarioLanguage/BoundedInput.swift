package import Foundation

/// Files that somebody names, read up to a bound: what has no end, such as a device, is not read to it.
package enum BoundedInput {
    /// Why there are no bytes.
    package enum Refusal: Error {
        case unreadable
        case tooLarge
    }

    /// All bytes of a file.
    package static func read(_ path: String, atMost limit: Int) throws(Refusal) -> Data {
        guard let file = FileHandle(forReadingAtPath: path) else { throw .unreadable }
        return try read(file, atMost: limit)
    }

    /// All bytes that are left in a file.
    package static func read(_ file: FileHandle, atMost limit: Int) throws(Refusal) -> Data {
        var data = Data()
        do {
            // A little more than is allowed says that there is more.
            while data.count <= limit, let more = try file.read(upToCount: min(limit + 1 - data.count, 1 << 20)),
                !more.isEmpty
            { data += more }
        } catch {
            // Such as a directory.
            throw .unreadable
        }
        guard data.count <= limit else { throw .tooLarge }
        return data
    }
}
