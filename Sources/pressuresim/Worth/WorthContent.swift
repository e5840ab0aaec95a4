import CLinuxShims
import CZlib
import Foundation
import Glibc
import PressureKit
import SampleContent

/// The values that are loaded: deflated, one after the other in a file, each from a page's beginning.
///
/// Half of a value's bits are noise, so that it takes inflate about as long as real data does. There are a few patterns of
/// noise only, or making the file would take longer than the measurement; what makes each value its own is a stamp of its
/// key in its first bytes, which stands in a stored block before the deflated rest.
struct WorthContent: Hashable, Sendable, Codable {
    /// The file.
    var path: String
    var valueSize: Int
    var count: Int
    /// The bytes from the beginning of a value in the file to that of the next.
    var slot: Int

    /// Values in the first bytes that say whose they are.
    private static let stampSize = 16
    private static let patterns = 16
    private static let seed: UInt64 = 0x3072_7468
    /// The smallest value there can be.
    static let leastSize = 64

    /// A value cannot be loaded.
    struct Failure: Error, Hashable, CustomStringConvertible {
        var description: String
    }
}

// MARK: Making

extension WorthContent {
    /// Makes the file, and leaves none of it in the page cache.
    ///
    /// - Throws: ``EnvironmentRefusal`` when there is no room for it.
    init(path: String, valueSize: ByteCount, count: Int, progress: Progress = .quiet) throws {
        self.path = path
        self.valueSize = valueSize.bytes
        self.count = count
        let tails = (0..<Self.patterns).map {
            Self.deflated(Self.tail($0, byteCount: valueSize.bytes - Self.stampSize))
        }
        let longest = tails.map(\.count).max() ?? 0
        slot = (5 + Self.stampSize + longest + 4095) & ~4095
        do {
            try write(tails, progress)
        } catch {
            throw EnvironmentRefusal(
                message: """
                    The values cannot be written to \(path): \(error.reason). It takes \
                    \(ByteCount.bytes(count * slot)) there; name another directory with --directory.
                    """
            )
        }
    }

    private func write(_ tails: [[UInt8]], _ progress: Progress) throws {
        try Data().write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        var batch = Data()
        for key in 0..<count {
            batch.append(contentsOf: Self.head(key))
            batch.append(contentsOf: tails[key % Self.patterns])
            batch.append(Data(count: slot - 5 - Self.stampSize - tails[key % Self.patterns].count))
            if batch.count >= 8 << 20 || key == count - 1 {
                try file.write(contentsOf: batch)
                batch.removeAll(keepingCapacity: true)
                progress.advance(to: key + 1, of: count)
            }
        }
        try file.synchronize()
        // A hint; the loader gives one for each value it reads.
        _ = posix_fadvise(file.fileDescriptor, 0, 0, POSIX_FADV_DONTNEED)
    }

    /// A stored block that is not the last, with the stamp (RFC 1951, 3.2.4).
    private static func head(_ key: Int) -> [UInt8] {
        let length = UInt16(stampSize)
        return [0] + bytes(length) + bytes(~length) + bytes(UInt64(key)) + bytes(~UInt64(key))
    }

    private static func bytes<Word: FixedWidthInteger>(_ word: Word) -> [UInt8] {
        (0..<Word.bitWidth / 8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }

    /// What follows the stamp.
    private static func tail(_ pattern: Int, byteCount: Int) -> [UInt8] {
        var random = SplitMix64(seed: seed, stream: UInt64(pattern))
        var tail: [UInt8] = []
        tail.reserveCapacity(byteCount + 8)
        while tail.count < byteCount { tail += bytes(random.next() & 0x0F0F_0F0F_0F0F_0F0F) }
        tail.removeLast(tail.count - byteCount)
        tail[byteCount - 1] = mark(pattern)
        return tail
    }

    /// The last byte of a value.
    private static func mark(_ pattern: Int) -> UInt8 { 0xA0 | UInt8(truncatingIfNeeded: pattern) }

    private static func deflated(_ plain: [UInt8]) -> [UInt8] {
        var stream = unsafe z_stream()  // zeros, as zlib wants it
        let status = unsafe pk_deflate_init_raw(&stream, 1)
        precondition(status == Z_OK, "zlib has no memory for a stream")
        defer { unsafe deflateEnd(&stream) }
        var plain = plain
        let bound = unsafe Int(deflateBound(&stream, uLong(plain.count)))
        return unsafe [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            // Both arrays outlive the call, and the lengths are theirs.
            unsafe plain.withUnsafeMutableBufferPointer { input in
                unsafe stream.next_in = input.baseAddress
                unsafe stream.avail_in = uInt(input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = uInt(output.count)
                let status = unsafe deflate(&stream, Z_FINISH)
                precondition(status == Z_STREAM_END, "deflate ended with \(status)")
            }
            count = unsafe bound - Int(stream.avail_out)
        }
    }

    // MARK: Loading

    /// Reads a value from the file and inflates it. What it read does not stay in the page cache. Any thread; blocks.
    ///
    /// - Throws: ``Failure``.
    func load(_ key: Int) throws(Failure) -> [UInt8] {
        let packed = try read(key)
        var stream = unsafe z_stream()  // zeros, as zlib wants it
        guard unsafe pk_inflate_init_raw(&stream) == Z_OK else { throw Failure(description: "inflate has no memory") }
        defer { unsafe inflateEnd(&stream) }
        var status = Z_OK
        let value = unsafe [UInt8](unsafeUninitializedCapacity: valueSize) { output, count in
            unsafe packed.withUnsafeBufferPointer { input in
                // zlib does not write to its input; both arrays outlive the call, and the lengths are theirs.
                unsafe stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                unsafe stream.avail_in = uInt(input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = uInt(output.count)
                status = unsafe inflate(&stream, Z_FINISH)
            }
            count = unsafe output.count - Int(stream.avail_out)
        }
        guard status == Z_STREAM_END else { throw Failure(description: "value \(key): inflate ended with \(status)") }
        return value
    }

    private func read(_ key: Int) throws(Failure) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)  // the string outlives the call
        guard descriptor >= 0 else { throw refusal() }
        defer { close(descriptor) }
        // Nobody reads the next value next.
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM)
        let packed = unsafe [UInt8](unsafeUninitializedCapacity: slot) { bytes, count in
            count = max(unsafe read(descriptor, at: off_t(key * slot), into: bytes), 0)
        }
        guard packed.count == slot else { throw refusal() }
        return packed
    }

    /// Leaves nothing in the page cache.
    private func read(_ descriptor: CInt, at offset: off_t, into bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
        // As many bytes as there is room for.
        let count = unsafe pk_read_two(descriptor, Int64(offset), true, bytes.baseAddress, bytes.count, nil, 0)
        guard count < 0 else { return Int(count) }
        defer { _ = posix_fadvise(descriptor, offset, off_t(bytes.count), POSIX_FADV_DONTNEED) }
        return unsafe pread(descriptor, bytes.baseAddress, bytes.count, offset)
    }

    private func refusal() -> Failure {
        Failure(description: "\(path): \(FileDescriptorOutput.Errno(code: errno))")
    }

    /// Whether these are the bytes of a key, as far as their length, their first and their last bytes tell.
    func knows(_ value: [UInt8], as key: Int) -> Bool {
        guard value.count == valueSize, value[valueSize - 1] == Self.mark(key % Self.patterns) else { return false }
        var stamp: UInt64 = 0
        var complement: UInt64 = 0
        for index in (0..<8).reversed() {
            stamp = stamp << 8 | UInt64(value[index])
            complement = complement << 8 | UInt64(value[8 + index])
        }
        return stamp == UInt64(key) && complement == ~stamp
    }
}
