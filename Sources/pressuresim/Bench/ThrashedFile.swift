import Foundation
import Glibc
import PressureKit

/// A file that is read page by page at random, so that the page cache of a small cgroup never has what is wanted.
final class ThrashedFile: Sendable {
    private let descriptor: Int32
    private let pages: UInt64

    /// Makes the file, without a name, and has the page cache forget it.
    ///
    /// - Throws: ``BenchRefusal`` when the directory takes no such file.
    init(directory: String, byteCount: Int) throws {
        pages = UInt64(byteCount / 4096)
        var path = Array("\(directory)/pressuresim-XXXXXX".utf8CString)
        // mkstemp changes the letters at the end of the array that it is given.
        descriptor = unsafe path.withUnsafeMutableBufferPointer { unsafe mkstemp($0.baseAddress!) }
        guard descriptor >= 0 else {
            throw BenchRefusal(description: "No file can be made in \(directory). Name another with --spill-directory.")
        }
        _ = unsafe path.withUnsafeBufferPointer { unsafe unlink($0.baseAddress!) }
        let block = [UInt8](repeating: 1, count: 1 << 20)
        for _ in 0..<(byteCount >> 20) {
            let count = unsafe block.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            guard count == block.count else {
                close(descriptor)
                throw BenchRefusal(description: "\(directory) has no room for \(ByteCount.bytes(byteCount)).")
            }
        }
        fsync(descriptor)
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM)
    }

    deinit { close(descriptor) }

    /// Reads some pages.
    func touch(_ random: inout SplitMix64) {
        var byte: UInt8 = 0
        for _ in 0..<64 {
            // One byte into one byte; the whole page comes along.
            _ = unsafe pread(descriptor, &byte, 1, Int(random.next() % pages) * 4096)
        }
    }
}

/// The stalled time of this process's cgroup, or of the machine where there is none.
enum StallFile {
    private static let path: String = {
        let own = MemoryGroup.unified().first.map { "\($0.directory)/memory.pressure" }
        return own.flatMap { FileManager.default.isReadableFile(atPath: $0) ? $0 : nil } ?? "/proc/pressure/memory"
    }()

    /// How long some task has waited for memory so far.
    static func stalled() -> Duration {
        let text = Array((KernelText.read(path) ?? "").utf8)
        return .microseconds(StallTotals.parse(text.span)?.some ?? 0)
    }
}
