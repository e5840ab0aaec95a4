#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import SpillStore

/// How large a spill file gets for what lives in it, over long histories.
@Suite struct FragmentationTests {
    /// Chunks and batches of all sizes come and go for a long time, in phases of growth and decay. At every step the
    /// file is within first fit's worst case, 6 times the most that ever lived in it, and in practice far below; frames
    /// that share units never take more of them than if they did not; and when all is gone the file is empty.
    @Test(arguments: UInt64(1)...4) func aFileStaysInProportionToWhatLivesInIt(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let disk = InMemoryFileSystem()
        let fixture = try SpillFixture(disk, frames: 20_000)
        let file = fixture.file
        let noise = Content.noise.bytes(262_144, seed: seed)
        var live: [(record: SpillRecord, start: Int)] = []
        var peakLive = 0
        var peakFile = 0
        for step in 0..<6000 {
            let grows = Int.random(in: 0..<10, using: &random) < (step / 1000 % 2 == 0 ? 6 : 4)
            if grows || live.isEmpty, live.count < 3000 {
                if step % 3 == 0 {
                    let lengths = (0..<Int.random(in: 1...60, using: &random)).map { _ in
                        Int.random(in: 1...3000, using: &random)
                    }
                    unsafe noise.withUnsafeBytes { bytes in
                        file.beginBatch(with: fixture.encoder)
                        for length in lengths {
                            let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[length..<2 * length])
                            #expect(unsafe file.append(part, to: fixture.encoder, compress: .stored))
                        }
                    }
                    try file.writeBatch(with: fixture.encoder, assurance: .taken)
                    live += lengths.enumerated().map { (fixture.encoder.batchRecord($0), $1) }
                } else {
                    let length = Bool.random(using: &random) ? 262_144 : Int.random(in: 1...262_144, using: &random)
                    let record = try unsafe noise.withUnsafeBytes { bytes in
                        let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<length])
                        return try unsafe file.write(part, with: fixture.encoder, compress: .stored, assurance: .taken)
                    }
                    live.append((record, 0))
                }
            } else {
                for _ in 0..<(step % 3 == 0 ? 30 : 1) where !live.isEmpty {
                    live.swapAt(Int.random(in: live.indices, using: &random), live.count - 1)
                    file.release(live.removeLast().record)
                }
            }
            if step % 200 == 0 { file.punchPending() }
            let usage = file.usage()
            let unshared = live.reduce(0) { $0 + ExtentAllocator.units(forByteCount: Int($1.record.storedLength)) }
            try #require(usage.occupiedBytes <= unshared * 4096, "seed \(seed) step \(step)")
            peakLive = max(peakLive, usage.occupiedBytes)
            peakFile = max(peakFile, usage.fileBytes)
        }
        #expect(peakFile <= peakLive * 6, "seed \(seed): worse than first fit's bound")
        #expect(Double(peakFile) <= Double(peakLive) * 1.25, "seed \(seed): \(peakFile) bytes for \(peakLive) live")
        for (record, start) in live.prefix(300) {
            let length = Int(record.plainLength)
            #expect(try fixture.read(record) == Array(noise[start..<start + length]))
        }
        // Punched, a file takes what lives in it and no more, however it is fragmented.
        file.punchPending()
        #expect(file.usage().allocatedBytes == file.usage().occupiedBytes)
        for (record, _) in live { file.release(record) }
        file.punchPending()
        #expect(disk.usedBytes == .zero && file.usage().fileBytes == 0)
    }
}
#endif
