import Glibc
import PressureSystem
import SystemPackage

extension SegmentFile {
    /// More than deflate looks back (32 KiB), so that every part of it has worked. A whole chunk would take six times as long.
    private static let rehearsed = 40 << 10

    /// Writes, checks, reads and releases chunks once, so that a spill that cannot work here fails when the manager
    /// starts and not when memory is short. Blocks for some milliseconds; allocates.
    ///
    /// It also makes the Swift runtime build now what it builds on first use (the metadata of generic types), and
    /// touches the codec's memory: after it, no call with this encoder and decoder allocates.
    ///
    /// - Throws: what the first spill would have thrown; `notWritten` when the bytes that came back are wrong.
    package func rehearse(with encoder: ChunkEncoder, _ decoder: ChunkDecoder) throws(SpillFailure) {
        let pages: ReservedPages
        do {
            pages = try ReservedPages(byteCount: 2 * Self.rehearsed)
        } catch {
            throw .writeFailed(.noMemory)
        }
        // Two halves of one reservation that lives until the end of this function.
        let plain = unsafe UnsafeMutableRawBufferPointer(rebasing: pages.bytes[..<Self.rehearsed])
        let found = unsafe UnsafeMutableRawBufferPointer(rebasing: pages.bytes[Self.rehearsed...])
        // Sixteen different bytes in no order: enough work for every part of deflate, and compressible.
        var noise: UInt32 = 1
        for index in plain.indices {
            noise = noise &* 1_664_525 &+ 1_013_904_223
            unsafe plain[index] = UInt8(noise >> 28)
        }
        for choice in CompressionChoice.allCases {
            let record = try unsafe write(
                UnsafeRawBufferPointer(plain),
                with: encoder,
                compress: choice,
                assurance: .readBack
            )
            let isSound: Bool
            do {
                try unsafe read(record, into: found, with: decoder)
                isSound = unsafe memcmp(plain.baseAddress!, found.baseAddress!, Self.rehearsed) == 0
            } catch {
                release(record)
                throw error
            }
            release(record)
            guard isSound else { throw .notWritten }
            punchPending()
            // The frame is gone, so this must fail: the proof that failures are noticed.
            if unsafe (try? read(record, into: found, with: decoder)) != nil { throw .notWritten }
        }
        // What may be given up there is not written in earnest.
        guard fileSystem.keepsEverything else { return }
        // Once in earnest; a page of it shows as much as a chunk.
        let page = unsafe UnsafeRawBufferPointer(rebasing: plain[..<ExtentAllocator.unitSize])
        release(try unsafe write(page, with: encoder, assurance: .onDevice))
        punchPending()
        drainWriteback()
    }
}
