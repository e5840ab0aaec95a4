import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import SystemPackage
import Testing

@testable import PressureKit

@Suite struct SegmentFileConcurrencyTests {
    /// Runs `body` on `count` threads of its own and returns when all have ended.
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                group.addTask {
                    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                        do {
                            try WorkerThread.spawn("spill-test") {
                                body(index)
                                done.resume()
                            }
                        } catch {
                            done.resume(throwing: error)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// A frame that is placed where the tail is just being cut off must be written after the cut, or it is lost.
    @Test func aWriterWhoNeedsTheTailWaitsUntilItIsCut() async throws {
        let faulty = FaultyFileSystem()
        let fixture = try SpillFixture(faulty)
        let bytes = Content.noise.bytes(262_144)
        fixture.file.release(try fixture.write(bytes))
        let written = Lock<SpillRecord?>(nil)
        let isCutting = Atomic(false)
        faulty.setInterceptor { operation in
            guard operation == .truncate else { return }
            isCutting.store(true, ordering: .sequentiallyConsistent)
            while fixture.file.usage().occupiedBytes == 0 { sched_yield() }
            // The writer has its extent. If it did not wait it would write now, and lose what it wrote.
            for _ in 0..<1000 where written.withLock({ $0 == nil }) { sched_yield() }
        }
        try await onThreads(2) { index in
            if index == 0 {
                fixture.file.punchPending()
            } else {
                while !isCutting.load(ordering: .sequentiallyConsistent) { sched_yield() }
                let record = try? fixture.write(bytes, assurance: .taken)
                written.withLock { $0 = record }
            }
        }
        let record = try #require(written.withLock { $0 })
        #expect(record.unit == 0)
        #expect(try fixture.read(record) == bytes)
        #expect(fixture.file.usage().fileBytes == Int(record.storedLength))
    }

    /// Readers, and writers who find a hole, never wait for a cut.
    @Test func aWriterWhoFindsAHoleDoesNotWaitForTheCut() throws {
        let faulty = FaultyFileSystem()
        let fixture = try SpillFixture(faulty)
        let bytes = Content.noise.bytes(262_144)
        let records = try (0..<3).map { _ in try fixture.write(bytes) }
        fixture.file.release(records[0])
        fixture.file.release(records[2])
        let found = Lock<[UInt8]>([])
        faulty.setInterceptor { operation in
            // On the cutting thread itself: if the write waited for the cut it would never return.
            guard operation == .truncate, let record = try? fixture.write(bytes) else { return }
            found.withLock { $0 = (try? fixture.read(record)) ?? [] }
        }
        fixture.file.punchPending()
        #expect(found.withLock { $0 } == bytes)
        #expect(try fixture.read(records[1]) == bytes)
    }

    /// Six threads write, read and release at random while two more punch holes, cut the tail and ask for the usage.
    /// Some of the calls fail; no byte may ever differ and nothing may be left over.
    @Test(arguments: [(UInt64(1), false), (2, true), (3, true)])
    func manyThreadsAtOnceNeverSeeWrongBytes(_ seed: UInt64, hasFaults: Bool) async throws {
        let faulty = FaultyFileSystem(LinuxFileSystem())
        let fixture = try SpillFixture(
            faulty,
            limits: SpillLimits(maximumBytes: .mebibytes(32), freeSpaceFloor: .zero, bypassPageCache: seed == 3),
            frames: 512
        )
        if hasFaults { faulty.set(.init(.error(Errno.ioError.rawValue), .every(37))) }
        let file = fixture.file
        let wrong = Atomic(0)
        let failures = Atomic(0)
        let working = Atomic(6)
        try await onThreads(8) { index in
            guard index < 6 else {
                while working.load(ordering: .relaxed) > 0 {
                    file.punchPending()
                    if file.usage().occupiedBytes > 32 << 20 { wrong.add(1, ordering: .relaxed) }
                }
                return
            }
            defer { working.subtract(1, ordering: .relaxed) }
            guard let encoder = try? ChunkEncoder(), let decoder = try? ChunkDecoder() else {
                wrong.add(1, ordering: .relaxed)
                return
            }
            var random = SeededGenerator(seed: seed &* 1000 &+ UInt64(index))
            let chunks = (0..<8).map {
                Content.allCases[$0 % 5].bytes(Int.random(in: 1...80_000, using: &random), seed: UInt64($0 + index))
            }
            var live: [(record: SpillRecord, chunk: Int)] = []
            for _ in 0..<250 {
                switch Int.random(in: 0..<3, using: &random) {
                case 0 where live.count < 20:
                    let chunk = Int.random(in: chunks.indices, using: &random)
                    do {
                        let record = try unsafe chunks[chunk].withUnsafeBytes { plain in
                            try unsafe file.write(plain, with: encoder)
                        }
                        live.append((record, chunk))
                    } catch { failures.add(1, ordering: .relaxed) }
                case 1:
                    guard let (record, chunk) = live.randomElement(using: &random) else { continue }
                    var bytes = [UInt8](repeating: 0, count: Int(record.plainLength))
                    do {
                        try unsafe bytes.withUnsafeMutableBytes { plain in
                            try unsafe file.read(record, into: plain, with: decoder)
                        }
                        if bytes != chunks[chunk] { wrong.add(1, ordering: .relaxed) }
                    } catch SpillFailure.readFailed {
                        failures.add(1, ordering: .relaxed)
                    } catch { wrong.add(1, ordering: .relaxed) }
                default:
                    guard let victim = live.indices.randomElement(using: &random) else { continue }
                    file.release(live.remove(at: victim).record)
                }
            }
            for (record, _) in live { file.release(record) }
        }
        faulty.set(nil)
        #expect(wrong.load(ordering: .relaxed) == 0, "seed \(seed)")
        #expect((failures.load(ordering: .relaxed) > 0) == hasFaults)
        file.punchPending()
        let usage = file.usage()
        #expect(usage.frames == 0 && usage.occupiedBytes == 0 && usage.plainBytes == 0 && usage.storedBytes == 0)
        #expect(usage.fileBytes == 0 && usage.allocatedBytes == 0)
    }
}
