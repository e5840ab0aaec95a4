#if Encryption
import Crypto
import FoundationEssentials

/// Seals the frames of one spill file with AES-256-GCM (NIST SP 800-38D), under a key that is made with it, at random,
/// and is nowhere but in this process's memory.
///
/// The nonce is the frame's generation. The file counts generations up under its lock, for every frame it ever places,
/// and a cipher belongs to one file: no nonce is used twice under a key. swift-crypto overwrites the key when the last
/// reference goes, which is when the file is closed: once the manager and all caches with values there are gone.
///
/// Sealing and opening allocate: swift-crypto returns buffers of its own, up to three of a chunk's length, which are
/// freed at once. From any thread.
package final class SpillCipher: Sendable {
    /// For the test that looks for it afterwards.
    let key = SymmetricKey(size: .bits256)

    /// Makes a key, from the system's random numbers.
    package init() {}

    /// Seals a payload.
    ///
    /// - Parameters:
    ///   - generation: the frame's; never given twice.
    ///   - output: as long as the payload, and not overlapping it.
    /// - Returns: what the frame is opened with; `nil` when the cipher failed, and then `output` holds anything.
    func seal(
        _ payload: UnsafeRawBufferPointer,
        generation: UInt64,
        into output: UnsafeMutableRawBufferPointer
    ) -> FrameSeal? {
        precondition(payload.count == output.count, "What is sealed is as long as what was there.")
        defer { Self.wash() }
        guard let box = try? unsafe AES.GCM.seal(Self.data(payload), using: key, nonce: Self.nonce(generation)) else {
            return nil
        }
        // As long as the payload, so as `output`.
        unsafe box.ciphertext.withUnsafeBytes { unsafe output.copyMemory(from: $0) }
        return unsafe box.tag.withUnsafeBytes { unsafe FrameSeal($0) }
    }

    /// Opens a frame where it lies: whether it is the one that was sealed. If not, its bytes stay as they are.
    func open(_ frame: UnsafeMutableRawBufferPointer, _ seal: FrameSeal, generation: UInt64) -> Bool {
        defer { Self.wash() }
        let tag = unsafe withUnsafeBytes(of: seal) { unsafe Data($0) }
        guard
            let box = try? unsafe AES.GCM.SealedBox(
                nonce: Self.nonce(generation),
                ciphertext: Self.data(UnsafeRawBufferPointer(frame)),
                tag: tag
            ),
            let plain = try? AES.GCM.open(box, using: key)
        else { return false }
        // As long as the frame: GCM neither adds nor takes bytes.
        unsafe plain.withUnsafeBytes { unsafe frame.copyMemory(from: $0) }
        return true
    }

    private static let blank = SymmetricKey(data: [UInt8](repeating: 0, count: 32))

    /// Has the block in which swift-crypto left the key's schedule used again, with a schedule of zeros.
    ///
    /// It expands the key for every call into an object that it frees as it is. The heap hands a thread the block of a
    /// size that it freed last, so a call that seals nothing takes that block. A test looks for the key in all of the
    /// process's memory afterwards.
    private static func wash() { _ = try? AES.GCM.seal(Data(), using: blank, nonce: nonce(0)) }

    /// The bytes themselves, not a copy: valid as long as they are, which is for one call here.
    private static func data(_ bytes: UnsafeRawBufferPointer) -> Data {
        guard let base = bytes.baseAddress else { return Data() }
        // Only read.
        return unsafe Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count, deallocator: .none)
    }

    /// 96 bits, as GCM wants them: 32 zeros and the generation.
    private static func nonce(_ generation: UInt64) throws -> AES.GCM.Nonce {
        var bytes = [UInt8](repeating: 0, count: 12)
        for index in 0..<8 { bytes[4 + index] = UInt8(truncatingIfNeeded: generation >> (8 * UInt64(7 - index))) }
        return try AES.GCM.Nonce(data: bytes)
    }
}
#else
/// There is none without the package trait `Encryption`: nothing makes one.
package struct SpillCipher: Sendable {
    private init() {}

    func seal(
        _ payload: UnsafeRawBufferPointer,
        generation: UInt64,
        into output: UnsafeMutableRawBufferPointer
    ) -> FrameSeal? { nil }

    func open(_ frame: UnsafeMutableRawBufferPointer, _ seal: FrameSeal, generation: UInt64) -> Bool { false }
}
#endif
