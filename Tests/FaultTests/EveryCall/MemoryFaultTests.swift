#if !THREAD_SANITIZER  // One thread at a time.
import CTestShims
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// The system has no memory to give: for scratch, for a codec, for the pages of a value; at every request in turn.
///
/// What Swift's own heap is refused ends the process, as everywhere in Swift; what the library takes from the system
/// does not.
@Suite(.serialized, .timeLimit(.minutes(10))) struct MemoryFaultTests {
    /// Refuses this thread's requests for memory, one after the other, until `body` comes through.
    private func refuseEveryRequest(_ body: (_ context: String, _ refusing: (() -> Void) -> Void) throws -> Void) throws
    {
        for isLasting in [false, true] {
            var (number, refused) = (0, 0)
            repeat {
                number += 1
                let first = CInt(number)
                refused = 0
                try body("request \(number)\(isLasting ? " and on" : "")") { work in
                    pk_refuse_memory(first, isLasting)
                    work()
                    refused += Int(pk_refused_memory())
                    pk_refuse_memory(0, false)
                }
                try #require(number < 200, "it never comes through")
            } while refused > 0
            #expect(number > 1, "no request was refused: the test tests nothing")
            figure("memory: \(number) runs")
        }
    }

    /// All spare decoders are in use, so that a restore has to make one.
    private func holdingDecoders(of bench: FaultBench, _ body: () throws -> Void) throws {
        let decoders = bench.manager.context.engine.file.decoders
        let held = try (0..<12).map { _ in try decoders.take() }
        defer { for decoder in held.prefix(2) { decoders.giveBack(decoder) } }
        try body()
    }

    @Test func aManagerThatFindsNoMemoryIsAnErrorAndLeavesNothing() async throws {
        let bases = Shared<[(String, InMemoryFileSystem)]>([])
        try refuseEveryRequest { context, refusing in
            let base = InMemoryFileSystem()
            bases.change { $0.append((context, base)) }
            refusing {
                do {
                    _ = try makeManager(fileSystem: base, workers: 3) {
                        $0.compressedTier = .first(upTo: .mebibytes(1))
                    }
                } catch {
                    #expect((error as? PressureError)?.code == .spillFailed, "\(context): \(error)")
                    #expect((error as? PressureError)?.errno == ENOMEM, "\(context)")
                }
            }
        }
        // Its threads let go of the file when they notice.
        for (context, base) in bases.value {
            for _ in 0..<2000 where base.openFiles > 0 { try await Task.sleep(for: .milliseconds(2)) }
            #expect(base.openFiles == 0, "\(context)")
        }
    }

    @Test func aValueThatFindsNoMemoryToComeBackStaysWhereItIs() async throws {
        let bench = try FaultBench()
        try bench.add("mine", makeBytes(200_000, seed: 1))
        let pages = try bench.controller.keyedCache("pages", key: Int.self, value: PageBuffer.self)
        for key in 0..<3 {
            let bytes = makeBytes(70_000, seed: UInt64(key))
            pages.set(PageBuffer(bytes), for: key)
            bench.track(key, of: pages, bytes, from: { PageBuffer($0) }, to: { unsafe $0.withUnsafeBytes(Array.init) })
        }
        for isLasting in [false, true] {
            var (number, refused) = (0, 0)
            repeat {
                number += 1
                await bench.warn()
                let first = CInt(number)
                let context = "request \(number)\(isLasting ? " and on" : "")"
                try holdingDecoders(of: bench) {
                    pk_refuse_memory(first, isLasting)
                    bench.readAll(context)
                    refused = Int(pk_refused_memory())
                    pk_refuse_memory(0, false)
                    bench.readAll(context)
                }
                for value in bench.values { value.check(mayFail: false, context) }
            } while refused > 0 && number < 100
            #expect(number > 1)
        }
        await bench.settle("no memory")
    }

    @Test func aCacheAtItsLimitThatFindsNoMemoryKeepsItsValues() async throws {
        try refuseEveryRequest { context, refusing in
            let bench = try FaultBench()
            let cache = try bench.controller.keyedCache(
                "mine",
                key: Int.self,
                value: [UInt8].self,
                options: .init(limit: .kibibytes(20))
            )
            refusing { for key in 0..<6 { cache.set(makeBytes(9000, seed: UInt64(key)), for: key) } }
            for key in 0..<6 {
                let found = try cache.withValue(for: key) { $0 }
                #expect(isSame(found, makeBytes(9000, seed: UInt64(key))), "\(context)")
            }
            // The next one that comes in makes the room that could not be made.
            cache.set(makeBytes(9000, seed: 6), for: 6)
            #expect(cache.residentByteCount <= .kibibytes(20), "\(context)")
        }
    }

    @Test func aStateThatFindsNoMemoryIsNotSavedOrNotRestored() throws {
        try refuseEveryRequest { context, refusing in
            let base = InMemoryFileSystem()
            let directory = try StateDirectory("/var/tmp/state", fileSystem: base)
            let saver = StateSaver(
                place: directory,
                version: "1",
                limits: SpillLimits(freeSpaceFloor: .zero),
                clock: SystemClock()
            )
            let bench = try FaultBench(on: base)
            try bench.add("mine", makeBytes(3000, seed: 1))
            _ = try saver.save(bench.manager.root)
            try holdingDecoders(of: bench) {
                refusing {
                    do throws(PressureError) {
                        _ = try saver.save(bench.manager.root)
                        _ = try StateRestorer(place: directory).read()
                    } catch {
                        #expect([.stateNotSaved, .stateRefused].contains(error.code), "\(context): \(error)")
                    }
                }
            }
            #expect(try StateRestorer(place: directory).read() != nil, "\(context)")
            #expect(base.openFiles == 2, "\(context)")
        }
    }
}
#endif
