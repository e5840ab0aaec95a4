import PressureKit
import SampleContent

/// Values that say which they are, and a ledger that knows which they may be.
///
/// A value begins with its key, its version and a hash of the rest. So one that was exchanged, or that comes back older
/// than the last change, is noticed as surely as one whose bytes have changed.
final class SoakValues: Sendable {
    private struct Versions {
        /// The last change that has begun, and the last that was done.
        var begun: UInt64 = 0
        var done: UInt64 = 0
    }

    private let size: Int
    private let content = SyntheticContent(compressibility: 0.5, seed: 0x50AC)
    private let versions: Lock<[Versions]>

    init(count: Int, size: Int) {
        self.size = size
        versions = Lock(Array(repeating: Versions(), count: count))
    }

    /// The bytes that say which value it is.
    static let headerSize = 24

    /// The first version of a value, as its loader makes it.
    func make(_ key: Int) -> PageBuffer {
        var buffer = PageBuffer(byteCount: size)
        stamp(&buffer, key, version: 0)
        return buffer
    }

    /// Writes a version over what is there.
    func stamp(_ buffer: inout PageBuffer, _ key: Int, version: UInt64) {
        buffer.write { [content] bytes in
            content.fill(&bytes, index: key &* 1_000_003 &+ Int(truncatingIfNeeded: version))
            let hash = XXHash64.hash(bytes.bytes.extracting(Self.headerSize...))
            bytes.storeBytes(of: UInt64(key), toByteOffset: 0, as: UInt64.self)
            bytes.storeBytes(of: version, toByteOffset: 8, as: UInt64.self)
            bytes.storeBytes(of: hash, toByteOffset: 16, as: UInt64.self)
        }
    }

    /// A change begins: the version it makes. One thread changes a value at a time.
    func begin(_ key: Int) -> UInt64 {
        versions.withLock {
            $0[key].begun += 1
            return $0[key].begun
        }
    }

    /// The change is done.
    func end(_ key: Int, version: UInt64) { versions.withLock { $0[key].done = version } }

    /// The last change that was done.
    func done(_ key: Int) -> UInt64 { versions.withLock { $0[key].done } }

    /// What is wrong with a value that was read; `nil` if nothing is.
    ///
    /// - Parameter oldest: the last change that had been done before the read began.
    func complaint(_ buffer: PageBuffer, _ key: Int, oldest: UInt64) -> String? {
        guard buffer.count == size else { return "value \(key) has \(buffer.count) bytes" }
        let (name, version, hash, isWhole) = buffer.withBytes { bytes in
            // The value has its whole length, which is more than a header's.
            let hash = unsafe bytes.unsafeLoad(fromByteOffset: 16, as: UInt64.self)
            let version = unsafe bytes.unsafeLoad(fromByteOffset: 8, as: UInt64.self)
            let name = unsafe bytes.unsafeLoad(fromByteOffset: 0, as: UInt64.self)
            return (name, version, hash, XXHash64.hash(bytes.extracting(Self.headerSize...)) == hash)
        }
        guard isWhole else { return "value \(key) has come back changed (its hash should be \(hash))" }
        guard name == UInt64(key) else { return "value \(key) has come back as value \(name)" }
        let newest = versions.withLock { $0[key].begun }
        guard oldest...newest ~= version else {
            return "value \(key) has come back in version \(version), not \(oldest) to \(newest)"
        }
        return nil
    }
}
