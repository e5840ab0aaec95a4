import CLinuxShims
import Glibc
import Testing

@testable import PressureKit

/// A directory of a test's own, and what it finds there.
struct SocketDirectory {
    /// Short: a socket's path has 107 bytes at most.
    let path: String

    init() {
        path = "/tmp/pk-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        _ = unsafe mkdir(path, 0o700)
    }

    /// Removes what is in it, one level down.
    func remove() {
        guard let directory = unsafe opendir(path) else { return }
        while let entry = unsafe readdir(directory) {
            // The name ends with a zero, within the entry.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard name != ".", name != ".." else { continue }
            if unsafe unlink("\(path)/\(name)") != 0 {
                SocketDirectory(path: "\(path)/\(name)").remove()
            }
        }
        unsafe closedir(directory)
        _ = unsafe rmdir(path)
    }

    private init(path: String) { self.path = path }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func place(_ name: String = "s") -> ControlPlace { ControlPlace(path: file(name)) }

    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    static func mode(_ path: String) -> UInt32 {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o7777 : .max
    }
}

/// A caller of a control socket that does not block.
final class SocketCaller {
    let descriptor: CInt

    init(_ path: String) throws {
        descriptor = unsafe pk_connect_unix(path)
        try #require(descriptor >= 0, "\(path): \(errno)")
    }

    /// Waits for somebody to listen there: the name is there first, and refuses callers until listen(2) has been called.
    init(waitingFor path: String) async throws {
        var descriptor = unsafe pk_connect_unix(path)
        while descriptor < 0, errno == ENOENT || errno == ECONNREFUSED {
            await Task.yield()
            descriptor = unsafe pk_connect_unix(path)
        }
        try #require(descriptor >= 0, "\(path): \(errno)")
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// - Returns: how many bytes were taken.
    @discardableResult func say(_ text: String) -> Int {
        let bytes = Array(text.utf8)
        return unsafe bytes.withUnsafeBytes { unsafe Int(pk_send_bytes(descriptor, $0.baseAddress, $0.count)) }
    }

    /// No more will be said; answers can still be heard.
    func stopTalking() { _ = shutdown(descriptor, CInt(SHUT_WR)) }

    enum Heard: Equatable {
        case nothing, end
        case text(String)

        var text: String? { if case .text(let text) = self { text } else { nil } }
    }

    /// What has arrived so far.
    func hear() -> Heard {
        var buffer = [UInt8](repeating: 0, count: 262_144)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        if count > 0 { return .text(String(decoding: buffer[..<count], as: UTF8.self)) }
        return count < 0 && errno == EAGAIN ? .nothing : .end
    }

    /// Waits for a line, for as long as the test may take. Blocks.
    static func answer(on descriptor: CInt) throws -> String {
        var text: [UInt8] = []
        while text.last != 10 {
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&watched, 1, 60_000)
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            try #require(count > 0, "hung up after \(String(decoding: text, as: UTF8.self))")
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
