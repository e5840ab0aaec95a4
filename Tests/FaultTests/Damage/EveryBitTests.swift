#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import SpillStore

/// Whatever becomes of a frame's bytes on the disk, the library notices: no wrong bytes, no crash.
@Suite(.timeLimit(.minutes(10))) struct EveryBitTests {
    /// Small values, and how they are to be stored.
    static let small: [(count: Int, randomBits: Int, choice: CompressionChoice)] = [
        (1, 8, .stored), (700, 8, .stored), (9000, 1, .deflate), (9000, 0, .deflate), (5000, 2, .adaptive),
    ]

    @Test(arguments: small.indices)
    func aFlippedBitIsFoundWhereverItIs(_ number: Int) throws {
        let (count, randomBits, choice) = Self.small[number]
        let fixture = try SpillFixture()
        let value = makeBytes(count, seed: UInt64(number), randomBits: randomBits)
        let record = try fixture.write(value, choice)
        let sound = fixture.stored(record)
        for bit in 0..<sound.count * 8 {
            fixture.disk.overwrite(
                fixture.file.descriptor,
                at: Int(record.offset) + bit / 8,
                with: [sound[bit / 8] ^ 1 << UInt8(bit % 8)]
            )
            if !fixture.read(record).isDamage { Issue.record("bit \(bit) of \(sound.count) bytes was not found") }
            fixture.disk.overwrite(fixture.file.descriptor, at: Int(record.offset) + bit / 8, with: [sound[bit / 8]])
        }
        #expect(fixture.read(record) == .success(value))
        figure("bits: \(sound.count * 8) of a frame")
    }

    /// Frames that share pages: each finds its own damage, and none its neighbour's.
    @Test func aFlippedBitInABatchConcernsOneFrame() throws {
        let fixture = try SpillFixture()
        let values = (0..<12).map { makeBytes(20 + $0 * 60, seed: UInt64($0), randomBits: $0 % 9) }
        let records = try fixture.writeBatch(values)
        #expect(records.contains { $0.isShared })
        for (number, record) in records.enumerated() {
            let sound = fixture.stored(record)
            for bit in 0..<sound.count * 8 {
                var bytes = sound
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                fixture.overwrite(record, with: bytes)
                #expect(fixture.read(record).isDamage, "bit \(bit) of frame \(number)")
                guard bit % 97 == 0 else { continue }
                for other in records.indices where other != number {
                    #expect(fixture.read(records[other]) == .success(values[other]))
                }
            }
            fixture.overwrite(record, with: sound)
            figure("bits: \(sound.count * 8) of a shared page")
        }
    }

    /// Large frames: seeded samples of one bit, of several, and of whole pages.
    @Test(arguments: [CompressionChoice.stored, .deflate])
    func damageToALargeFrameIsFound(_ choice: CompressionChoice) throws {
        let fixture = try SpillFixture()
        let value = makeBytes(262_144, seed: 5, randomBits: 4)
        let record = try fixture.write(value, choice)
        let sound = fixture.stored(record)
        let seed: UInt64 = 17
        var random = SeededGenerator(seed: seed)
        for round in 0..<300 {
            var bytes = sound
            switch round % 3 {
            case 0:
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1:
                for _ in 0..<Int.random(in: 2..<40, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
                }
                if bytes == sound { continue }
            default:
                // A page that was never written, or is another page's.
                let pages = bytes.count / 4096
                let (to, from) = (Int.random(in: 0..<pages, using: &random), Int.random(in: 0..<pages, using: &random))
                let page =
                    to == from ? [UInt8](repeating: 0, count: 4096) : Array(sound[from * 4096..<(from + 1) * 4096])
                if Array(bytes[to * 4096..<(to + 1) * 4096]) == page { continue }
                bytes.replaceSubrange(to * 4096..<(to + 1) * 4096, with: page)
            }
            fixture.overwrite(record, with: bytes)
            if !fixture.read(record).isDamage { Issue.record("seed \(seed), round \(round): not found") }
        }
        fixture.overwrite(record, with: sound)
        #expect(fixture.read(record) == .success(value))
    }

    @Test(arguments: small.indices)
    func aFileThatWasCutAnywhereIsFound(_ number: Int) throws {
        let (count, randomBits, choice) = Self.small[number]
        let fixture = try SpillFixture()
        let value = makeBytes(count, seed: UInt64(number), randomBits: randomBits)
        let record = try fixture.write(value, choice)
        let sound = fixture.stored(record)
        for length in 0..<sound.count {
            try fixture.disk.truncate(fixture.file.descriptor, to: record.offset + Int64(length))
            let found = fixture.read(record)
            #expect(found == .failure(.damaged(.truncated)), "cut to \(length): \(found)")
            fixture.overwrite(record, with: sound)
        }
        #expect(fixture.read(record) == .success(value))
    }

    /// Sound frames, but not the ones that were asked for.
    @Test(arguments: [CompressionChoice.stored, .deflate])
    func frameInAnotherOnesPlaceIsFound(_ choice: CompressionChoice) throws {
        let fixture = try SpillFixture()
        let values = (0..<4).map { makeBytes(60_000, seed: UInt64($0), randomBits: 3) }
        let records = try values.map { try fixture.write($0, choice) }
        let frames = records.map(fixture.stored)
        for (number, record) in records.enumerated() {
            for other in frames.indices where other != number {
                fixture.overwrite(record, with: frames[other])
                #expect(fixture.read(record).isDamage, "frame \(other) in the place of \(number)")
            }
            fixture.overwrite(record, with: frames[number])
        }
        for (record, value) in zip(records, values) { #expect(fixture.read(record) == .success(value)) }
    }

    /// A write that never reached the disk leaves what was in the same place before, a sound frame of its time.
    @Test(arguments: [CompressionChoice.stored, .deflate])
    func aFrameOfAnEarlierTimeIsFound(_ choice: CompressionChoice) throws {
        let fixture = try SpillFixture()
        var before: [UInt8]?
        for age in 0..<20 {
            let value = makeBytes(50_000, seed: UInt64(age), randomBits: 3)
            let record = try fixture.write(value, choice)
            #expect(record.unit == 0)
            let frame = fixture.stored(record)
            if let before {
                fixture.overwrite(record, with: before)
                #expect(fixture.read(record).isDamage)
                fixture.overwrite(record, with: frame)
            }
            #expect(fixture.read(record) == .success(value))
            before = frame
            fixture.file.release(record)
        }
    }

    // MARK: As an app sees it

    /// Without a loader: an error that names the value, as often as it is asked for; with one: the value.
    @Test func damageIsAnErrorThatNamesTheValueOrIsRepairedByTheLoader() async throws {
        let bench = try FaultBench()
        try bench.add("mine", makeBytes(700, seed: 1))
        try bench.add("loaded", makeBytes(700, seed: 2), isLoaded: true)
        let tiles = try bench.controller.keyedCache("tiles", key: Int.self, value: [UInt8].self)
        for key in 0..<3 {
            tiles.set(makeBytes(500, seed: UInt64(key)), for: key)
            bench.track(key, of: tiles, makeBytes(500, seed: UInt64(key)), from: { $0 }, to: { $0 })
        }
        let descriptor = bench.engine.file.descriptor
        let size = 3 * 4096
        for bit in stride(from: 0, to: size * 8, by: 131) {
            await bench.warn()
            let sound = bench.base.contents(descriptor)
            guard bit / 8 < sound.count else { break }
            bench.base.overwrite(descriptor, at: bit / 8, with: [sound[bit / 8] ^ 1 << UInt8(bit % 8)])
            bench.readAll("bit \(bit)")
            bench.readAll("bit \(bit), again")
            bench.base.overwrite(descriptor, at: bit / 8, with: [sound[bit / 8]])
        }
        await bench.settle("every bit")
    }
}
#endif
