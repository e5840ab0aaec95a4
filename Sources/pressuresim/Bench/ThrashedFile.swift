import Foundation
import Glibc
import PressureKit
import SampleContent

/// A file that is mapped and read page by page at random, so that the page cache of a small cgroup never has what is
/// wanted. Mapped, because the kernel reads ahead of page faults: so more is thrown out for each page, and tasks wait.
@safe
final class ThrashedFile: @unchecked Sendable {
    // Sendable and safe: the mapping is never written, and lives as long as the object.
    private let bytes: UnsafeRawBufferPointer

    /// Makes the file, without a name, and has the page cache forget it.
    ///
    /// - Throws: ``BenchRefusal`` when the directory takes no such file.
    init(directory: String, byteCount: Int) throws {
        var path = Array("\(directory)/pressuresim-XXXXXX".utf8CString)
        // mkstemp changes the letters at the end of the array that it is given.
        let descriptor = unsafe path.withUnsafeMutableBufferPointer { unsafe mkstemp($0.baseAddress!) }
        guard descriptor >= 0 else {
            throw BenchRefusal(description: "No file can be made in \(directory). Name another with --spill-directory.")
        }
        defer { close(descriptor) }
        _ = unsafe path.withUnsafeBufferPointer { unsafe unlink($0.baseAddress!) }
        let block = [UInt8](repeating: 1, count: 1 << 20)
        for _ in 0..<(byteCount >> 20) {
            let count = unsafe block.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            guard count == block.count else {
                throw BenchRefusal(description: "\(directory) has no room for \(ByteCount.bytes(byteCount)).")
            }
        }
        fsync(descriptor)
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        let address = unsafe mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor, 0)
        // MAP_FAILED, which Swift does not import, is -1.
        guard Int(bitPattern: address) != -1 else {
            throw BenchRefusal(description: "A file in \(directory) cannot be mapped.")
        }
        unsafe bytes = UnsafeRawBufferPointer(start: address, count: byteCount)
    }

    // The address and length are those of `init`.
    deinit { unsafe _ = munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }

    /// Reads a byte of some pages.
    ///
    /// - Returns: their sum, so that they have to be read.
    func touch(_ random: inout SplitMix64) -> Int {
        // The offsets are below the count.
        (0..<64).reduce(0) { sum, _ in unsafe sum + Int(bytes[Int(random.next() % UInt64(bytes.count))]) }
    }
}

/// The time for which some task has waited for memory: in this process's cgroup, and on the machine.
enum StallFile {
    private static let paths: [String] = {
        let own = MemoryGroup.unified().first.map { "\($0.directory)/memory.pressure" }
        return [own, "/proc/pressure/memory"].compactMap(\.self)
    }()

    /// By file, always in the same order.
    static func stalled() -> [Duration] {
        paths.map { path in
            let text = Array((KernelText.read(path) ?? "").utf8)
            return .microseconds(StallTotals.parse(text.span)?.some ?? 0)
        }
    }
}
