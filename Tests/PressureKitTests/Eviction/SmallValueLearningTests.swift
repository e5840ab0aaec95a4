import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import Synchronization
import Testing

@testable import PressureKit
@testable import SpillStore

/// What is learnt from small values, which are written together and are each too small to be measured alone.
@Suite(.timeLimit(.minutes(5))) struct SmallValueLearningTests {
    /// Time passes with work and with writes, and nothing else: a codec of 100 MB/s.
    final class WorkClock: MonotonicClock {
        private let time = Atomic<Int64>(0)
        let compressed = Atomic<Int>(0)

        func now() -> MonotonicInstant { MonotonicInstant(nanoseconds: time.load(ordering: .relaxed)) }

        func spent(on work: TimedWork, byteCount: Int) {
            guard work == .compressing else { return }
            compressed.wrappingAdd(byteCount, ordering: .relaxed)
            time.wrappingAdd(Int64(byteCount) * 10, ordering: .relaxed)
        }
    }

    /// How many bytes were compressed, or tried, of 4,096 values of a kibibyte that leave memory.
    private func compressed(randomBits: Int) async throws -> (bytes: Int, stored: ByteCount) {
        let clock = WorkClock()
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) {
            $0.clock = clock
            $0.supportedDispositions = [.keep, .spill]
        }
        let controller = try addController("app", to: manager.root)
        let cache: KeyedCache<Int, [UInt8]> = try controller.keyedCache("values")
        for key in 0..<4096 { cache.set(makeBytes(1 << 10, seed: UInt64(key), randomBits: randomBits), for: key) }
        let before = clock.compressed.load(ordering: .relaxed)
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.evicted.reduce(0) { $0 + $1.count } == 4096)
        for key in stride(from: 0, to: 4096, by: 100) {
            let value = try await cache.value(for: key)
            #expect(value == makeBytes(1 << 10, seed: UInt64(key), randomBits: randomBits))
        }
        let bytes = clock.compressed.load(ordering: .relaxed) - before
        await manager.shutdown()
        return (bytes, report.stored)
    }

    @Test func bytesThatDoNotShrinkAreTriedEverLessOften() async throws {
        let (bytes, stored) = try await compressed(randomBits: 8)
        // Four, then one after 16, 32, 64 … and at last 1,024 others.
        #expect(1..<(64 << 10) ~= bytes)
        #expect(stored == .mebibytes(4))
    }

    @Test func bytesThatShrinkAreCompressed() async throws {
        let (bytes, stored) = try await compressed(randomBits: 4)
        #expect(bytes == 4 << 20)
        #expect(stored < .mebibytes(3))
    }

    // MARK: Rates

    private static func cost(packed: Int, stored: Int, encoding: Duration, writing: Duration) -> BatchCost {
        var cost = BatchCost()
        cost.packedPlainBytes = packed * 2
        cost.packedBytes = packed
        cost.storedBytes = packed + stored
        cost.encodeTime = encoding
        cost.writeTime = writing
        return cost
    }

    @Test func aBatchTellsHowFastCodecAndFileAre() {
        var rates = CodecRates()
        rates.note(Self.cost(packed: 100_000, stored: 0, encoding: .microseconds(2000), writing: .microseconds(100)))
        #expect(rates.codecNanoseconds == 10)
        #expect(rates.fileNanoseconds == 1)
        let storesFirst = rates.shouldStoreFirst(ratio: 0.5)
        #expect(storesFirst)
        // Most of it as it is: the file's other way.
        rates.note(Self.cost(packed: 10_000, stored: 90_000, encoding: .microseconds(200), writing: .milliseconds(2)))
        #expect(rates.codecNanoseconds == 10)
        #expect(rates.fileNanoseconds == 20)
        let storesStill = rates.shouldStoreFirst(ratio: 0.5)
        #expect(!storesStill)
    }

    @Test func aBatchOfWhatDoesNotShrinkSaysNothingOfTheCodec() {
        var rates = CodecRates()
        rates.note(Self.cost(packed: 0, stored: 100_000, encoding: .zero, writing: .microseconds(100)))
        #expect(rates.codecNanoseconds == nil)
        #expect(rates.fileNanoseconds == 1)
    }
}
