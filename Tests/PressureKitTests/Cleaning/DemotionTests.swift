import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit

/// A server behind a disk: what goes there, when, and what becomes of it. Time as the test says.
@Suite struct DemotionTests {
    /// A manager with a small disk and a large server, both in memory, and a worker that is driven by hand.
    struct Bench {
        let clock = ManualClock()
        let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
        let server = FaultyFileSystem(InMemoryFileSystem(), server: "Redis at a test")
        let manager: PressureManager
        let controller: PressureController
        let worker: CleaningWorker

        init(
            limit: ByteCount? = .mebibytes(1),
            serverLimit: ByteCount? = nil,
            configure: (inout PressureConfiguration) -> Void = { _ in }
        ) throws {
            let (clock, server) = (clock, server)
            manager = try makeManager(fileSystem: disk) { configuration in
                configuration.clock = clock
                configuration.spillLimit = limit
                configuration.supportedDispositions = [.keep, .spill, .compress]
                // So that sizes are known.
                configuration.compression = .stored
                configuration.behindDisk = RemoteOptions(
                    fileSystem: server,
                    path: "/var/tmp",
                    limit: serverLimit
                )
                configure(&configuration)
            }
            controller = try addController("app", to: manager.root)
            worker = CleaningWorker(
                engine: manager.context.engine,
                root: manager.root,
                rate: .mebibytes(1024),
                isUnpressured: { true },
                read: { BusyReading(time: $0, processorStall: 0) }
            )
        }

        var engine: ReclaimEngine { manager.context.engine }
        var demoted: Int { manager.snapshot().demoted.bytes }
        var stored: Int { manager.snapshot().stored.bytes }

        /// Values that nobody can make again, of 64 KiB each.
        func values(_ count: Int, _ name: String = "mine") throws -> [LazyCache<[UInt8]>] {
            try (0..<count).map { try controller.cache("\(name)\($0)", initialValue: Self.bytes($0)) }
        }

        static func bytes(_ number: Int) -> [UInt8] { makeBytes(65_536, seed: UInt64(number), randomBits: 8) }

        @discardableResult
        func evict() async -> EvictionReport { await manager.simulateMemoryWarning(.critical) }

        /// Lets everything become cold, and the worker do what there is to do.
        func idle() {
            for _ in 0..<3 {
                worker.wake()
                clock.advance(by: ColdLine.interval)
            }
            for _ in 0..<200 {
                guard let pause = worker.step() ?? nil else { return }
                clock.advance(by: pause)
            }
        }

        func expectAll(_ caches: [LazyCache<[UInt8]>]) async throws {
            for (number, cache) in caches.enumerated() { #expect(try await cache.value() == Self.bytes(number)) }
        }
    }

    @Test func aReclaimWritesToTheDiskAlone() async throws {
        let bench = try Bench()
        let caches = try bench.values(8)
        let before = bench.server.calls(.write)
        let report = await bench.evict()
        #expect(caches.allSatisfy { $0.residency == .spilled } && report.failures.isEmpty)
        #expect(bench.server.calls(.write) == before && bench.demoted == 0)
        // Half of the disk is no reason either.
        bench.idle()
        #expect(bench.server.calls(.write) == before && bench.demoted == 0)
        try await bench.expectAll(caches)
    }

    @Test func aDiskThatIsNearlyFullIsEmptiedInIdleTime() async throws {
        let bench = try Bench()
        let caches = try bench.values(14)
        await bench.evict()
        #expect(bench.engine.file.fullness > 0.8 && bench.demoted == 0)
        bench.idle()
        // Down to five eighths, and not further.
        #expect(bench.engine.file.fullness <= ReclaimEngine.demotesTo)
        #expect(bench.engine.file.fullness > ReclaimEngine.demotesTo - 0.1)
        #expect(bench.demoted >= 4 * 65_536 && bench.demoted + bench.stored == 14 * 65_536)
        #expect(caches.allSatisfy { $0.residency == .spilled })
        try await bench.expectAll(caches)
        // Back in memory, each leaves at once: its copy is where it was.
        let writes = (bench.disk.calls(.write), bench.server.calls(.write))
        let report = await bench.evict()
        #expect(Set(report.evicted.map(\.outcome)) == [.reused])
        #expect((bench.disk.calls(.write), bench.server.calls(.write)) == writes)
        try await bench.expectAll(caches)
    }

    /// What is used is not sent away.
    @Test func theColdGoAndTheOthersStay() async throws {
        let bench = try Bench()
        let cold = try bench.values(7, "cold")
        let hot = try bench.values(7, "hot")
        await bench.evict()
        for _ in 0..<3 {
            bench.worker.wake()
            bench.clock.advance(by: ColdLine.interval)
        }
        _ = UseClock.tick()
        for cache in hot { try cache.withValue { _ in } }
        for _ in 0..<200 {
            guard let pause = bench.worker.step() ?? nil else { break }
            bench.clock.advance(by: pause)
        }
        #expect(bench.demoted > 0)
        await bench.evict()
        #expect(hot.allSatisfy { $0.residency == .spilled })
        let reads = bench.server.calls(.read)
        for (number, cache) in hot.enumerated() { #expect(try await cache.value() == Bench.bytes(number)) }
        #expect(bench.server.calls(.read) == reads)
        try await bench.expectAll(cold)
    }

    /// A disk without room for more: the reclaim goes on behind it, and says of no value that it could not be written.
    @Test func aFullDiskHandsOver() async throws {
        let bench = try Bench()
        let caches = try bench.values(40)
        let report = await bench.evict()
        #expect(caches.allSatisfy { $0.residency == .spilled })
        #expect(report.failures.allSatisfy { $0.code == .diskFull })
        #expect(bench.stored <= 1 << 20 && bench.stored + bench.demoted == 40 * 65_536)
        try await bench.expectAll(caches)
    }

    /// What can be compressed in memory is not sent over a network in a reclaim; it is in idle time.
    @Test func aReclaimCompressesBeforeItSends() async throws {
        let bench = try Bench(limit: .kibibytes(64)) { $0.compressedTier = .whenSpillingFails(upTo: .mebibytes(64)) }
        let bytes = (0..<20).map { makeBytes(65_536, seed: UInt64($0), randomBits: 2) }
        let caches = try bytes.enumerated().map {
            try bench.controller.cache("c\($0.offset)", initialValue: $0.element)
        }
        await bench.evict()
        #expect(caches.allSatisfy { $0.residency == .compressed || $0.residency == .spilled })
        #expect(caches.contains { $0.residency == .compressed } && bench.demoted == 0)
        // What does not shrink has nowhere else to go.
        let noise = try bench.controller.cache("noise", initialValue: Bench.bytes(7))
        await bench.evict()
        #expect(noise.residency == .spilled && bench.demoted >= 65_536)
        bench.idle()
        #expect(caches.allSatisfy { $0.residency == .spilled })
        for (cache, bytes) in zip(caches, bytes) { #expect(try await cache.value() == bytes) }
        #expect(try await noise.value() == Bench.bytes(7))
    }

    @Test func aDiskThatFailsHandsOver() async throws {
        let bench = try Bench(limit: nil)
        let caches = try bench.values(12)
        bench.disk.set(.init(.error(EIO), on: .write))
        let report = await bench.evict()
        #expect(caches.allSatisfy { $0.residency == .spilled })
        // Of the disk, which failed three times before it was left alone, and not of the server.
        #expect(report.failures.allSatisfy { !$0.message.contains("Redis") } && !report.failures.isEmpty)
        #expect(bench.stored == 0 && bench.demoted == 12 * 65_536)
        // Well again, it comes first again.
        bench.disk.set(nil)
        bench.clock.advance(by: .seconds(300))
        let more = try bench.values(3, "more")
        await bench.evict()
        #expect(bench.stored == 3 * 65_536)
        try await bench.expectAll(caches)
        try await bench.expectAll(more)
    }

    /// Every call of the server fails in turn, while copies move: each value has its copy on the disk or on the server.
    @Test(arguments: [FaultyFileSystem.Operation.write, .read])
    func aServerThatFailsCostsNothing(_ operation: FaultyFileSystem.Operation) async throws {
        for call in 1...12 {
            let bench = try Bench()
            let caches = try bench.values(14)
            await bench.evict()
            bench.server.set(.init(.error(ETIMEDOUT), on: operation, .from(call)))
            bench.idle()
            #expect(caches.allSatisfy { $0.residency == .spilled }, "\(operation) \(call)")
            bench.server.set(nil)
            try await bench.expectAll(caches)
            // And it is tried again.
            bench.clock.advance(by: .seconds(300))
            await bench.evict()
            bench.idle()
            #expect(bench.engine.file.fullness < ReclaimEngine.demotesAbove, "\(operation) \(call)")
            try await bench.expectAll(caches)
        }
    }

    /// Every third write fails: an accident each, and no reason to leave the server alone.
    @Test func accidentsFarApartSuspendNothing() async throws {
        let bench = try Bench(limit: .mebibytes(4))
        let caches = try bench.values(58)
        await bench.evict()
        bench.server.set(.init(.error(ETIMEDOUT), on: .write, .every(3)))
        bench.idle()
        #expect(bench.engine.secondary?.mayWrite == true && bench.server.faults >= 3)
        #expect(bench.engine.file.fullness < ReclaimEngine.demotesAbove)
        try await bench.expectAll(caches)
    }

    /// A copy that was sent wrong, or not at all, is noticed before the one on the disk is given up.
    @Test(arguments: [FaultyFileSystem.Fault.lyingWrite, .lostWrite, .wrongWrite])
    func aServerThatLiesGetsNothing(_ fault: FaultyFileSystem.Fault) async throws {
        let bench = try Bench()
        let caches = try bench.values(14)
        await bench.evict()
        bench.server.set(.init(fault, on: .write))
        bench.idle()
        #expect(bench.demoted == 0)
        bench.server.set(nil)
        try await bench.expectAll(caches)
    }

    /// A reader who comes while the server is away learns which server, and of which cache; others go on.
    @Test func whatIsThereCannotBeReadWhileItIsAway() async throws {
        let bench = try Bench()
        let caches = try bench.values(14)
        let made = try bench.controller.cache("made") { Bench.bytes(99) }
        try made.loadIfNeeded()
        await bench.evict()
        bench.idle()
        bench.server.set(.init(.error(ETIMEDOUT), on: .read))
        var failed = 0
        for (number, cache) in caches.enumerated() {
            do {
                #expect(try await cache.value() == Bench.bytes(number))
            } catch {
                failed += 1
                let error = try #require(error as? PressureError)
                #expect(error.path == "app/mine\(number)" && error.message.contains("Redis at a test"))
            }
        }
        #expect(failed > 0 && failed < 14)
        #expect(try await made.value() == Bench.bytes(99))
        bench.server.set(nil)
        try await bench.expectAll(caches)
    }

    @Test func aServerThatMayEvictGetsWhatLoadersMake() async throws {
        let bench = try Bench(limit: .mebibytes(2))
        bench.server.keepsEverything = false
        let mine = try bench.values(14)
        let made = try (0..<14).map { number in try bench.controller.cache("made\(number)") { Bench.bytes(number) } }
        for cache in made { try cache.loadIfNeeded() }
        await bench.evict()
        bench.idle()
        #expect(bench.demoted > 0 && bench.engine.file.fullness < ReclaimEngine.demotesAbove)
        // It has lost all of it.
        bench.server.set(.init(.bitFlip, on: .read))
        try await bench.expectAll(mine)
        try await bench.expectAll(made)
    }

    /// What nobody needs any more goes from the server too.
    @Test func whatIsReplacedLeavesTheServer() async throws {
        let bench = try Bench()
        let caches = try bench.values(14)
        await bench.evict()
        bench.idle()
        let file = try #require(bench.engine.secondary).file
        #expect(try #require(file.usage().allocatedBytes) >= 4 * 65_536)
        for cache in caches { try cache.invalidate() }
        bench.idle()
        #expect(bench.demoted == 0 && file.usage().allocatedBytes == 0)
    }

    @Test func theLimitOfTheServerCounts() async throws {
        let bench = try Bench(serverLimit: .kibibytes(256))
        let caches = try bench.values(40)
        let report = await bench.evict()
        #expect(bench.demoted <= 256 << 10 && bench.stored <= 1 << 20)
        #expect(caches.count { $0.residency == .resident } >= 40 - 20)
        #expect(report.failures.contains { $0.code == .diskFull })
        try await bench.expectAll(caches)
    }

    /// A disk that has less free than the floor allows is full, whatever the file's own limit is.
    @Test func aDiskIsFullWhenOthersHaveFilledIt() throws {
        let disk = InMemoryFileSystem(capacity: .mebibytes(1))
        let fixture = try SpillFixture(disk, limits: SpillLimits(freeSpaceFloor: .kibibytes(256)))
        #expect(fixture.file.fullness == 0)
        for number in 0..<8 { _ = try fixture.write(Bench.bytes(number)) }
        #expect(abs(fixture.file.fullness - 512 / 768) < 0.1)
    }
}
