#if !THREAD_SANITIZER  // Makes or weighs processes.
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import SpillStore

/// What the readers and writers of small values take who all wait at once.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ScratchMemoryTests {
    /// Each decoder took all that the largest chunk needs: 64 readers of 4 KiB were killed below 96 MiB for it.
    @Test func whoeverReadsSmallValuesTakesLittle() async throws {
        await #expect(processExitsWith: .success) {
            let fixture = try SpillFixture()
            let value = (0..<4096).map { UInt8($0 / 16) }
            let record = try fixture.write(value)
            var plain = value
            let pool = DecoderPool()
            let before = RestingManagerTests.privateMemory()
            var taken: [ChunkDecoder] = []
            for _ in 0..<64 {
                let decoder = try pool.take()
                // The array's bytes are only used for the length of the call.
                try unsafe plain.withUnsafeMutableBytes {
                    try unsafe fixture.file.read(record, into: $0, with: decoder)
                }
                require(plain == value, "what was written")
                taken.append(decoder)
            }
            let cost = RestingManagerTests.privateMemory() - before
            require(cost < 2048, "64 decoders cost \(cost) KiB")
            exit(0)
        }
    }

    /// Those that have come to take much are few.
    @Test func whatTookMuchIsNotKeptForAll() throws {
        let pool = DecoderPool()
        func takeAndGiveBack(_ payload: Int) throws -> Int {
            var taken: [ChunkDecoder] = []
            for _ in 0..<64 { taken.append(try pool.take()) }
            let old = taken.filter { $0.longest > 0 }.count
            for decoder in taken {
                _ = unsafe decoder.payloadBytes(payload)
                pool.giveBack(decoder)
            }
            return old
        }
        #expect(try takeAndGiveBack(4096) == 0)
        #expect(try takeAndGiveBack(4096) == 64, "those of small values are all kept")
        #expect(try takeAndGiveBack(SegmentFile.chunkSize) == 64)
        #expect(try takeAndGiveBack(4096) == 8)
    }

    /// Waits, when it is to be written, until many are.
    private struct Held: Spillable {
        static let gate = ConditionLock((arrived: 0, done: 0, isOpen: false))

        var spillByteCount: Int { 4096 }

        init() {}
        init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {}

        func withSpillBytes(_ body: (RawSpan) -> Void) {
            Self.gate.withLock { $0.arrived += 1 }
            Self.gate.wait { $0.isOpen ? () : nil }
            let bytes = [UInt8](repeating: 1, count: 4096)
            // The array outlives the call.
            unsafe bytes.withUnsafeBytes { unsafe body(RawSpan(_unsafeBytes: $0)) }
        }
    }

    /// Whoever brings a value too many writes another one on its own thread.
    @Test func whoeverKeepsACacheToItsLimitTakesLittle() async {
        await #expect(processExitsWith: .success) {
            let manager = try makeManager(fileSystem: InMemoryFileSystem())
            var options = CacheOptions()
            options.countLimit = 1
            let cache = try manager.root.keyedCache("many", key: Int.self, value: Held.self, options: options)
            let before = RestingManagerTests.privateMemory()
            // The first has nobody to push out. One after the other: several at once would leave one all that is too many.
            for key in 0...12 {
                try WorkerThread.spawn("writer") {
                    cache.set(Held(), for: key)
                    Held.gate.withLock { $0.done += 1 }
                }
                Held.gate.wait { $0.arrived + $0.done > key ? () : nil }
            }
            require(Held.gate.withLock { $0.arrived } == 12, "one who writes for each but the first")
            let cost = RestingManagerTests.privateMemory() - before
            Held.gate.withLock { $0.isOpen = true }
            require(cost < 2048, "12 who write cost \(cost) KiB")
            exit(0)
        }
    }
}
#endif
