import Glibc
import InMemoryLogging
import Logging
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// What goes wrong while batches keep a full cache below its limit, of which nobody gets a report.
@Suite(.timeLimit(.minutes(5))) struct BackgroundFailureTests {
    private static let limit = ByteCount.mebibytes(64)
    private static let valueSize = 64 << 10

    /// Puts values in, and says after each what is left.
    private func fill(
        _ cache: KeyedCache<Int, [UInt8]>,
        _ keys: Range<Int>,
        _ manager: PressureManager,
        _ source: SimulatedSource
    ) {
        for key in keys {
            cache.set([UInt8](repeating: UInt8(truncatingIfNeeded: key), count: Self.valueSize), for: key)
            let reading = manager.context.books.reading
            source.set(available: max(.zero, Self.limit - .bytes(reading.brought - reading.returned)), of: Self.limit)
        }
    }

    /// Broken once: the batches' failures were in no report, no log and no event.
    @Test func aDiskThatTakesNothingIsTold() async throws {
        let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
        let (source, clock) = (SimulatedSource(), ManualClock())
        var handler = InMemoryLogHandler()
        handler.logLevel = .debug
        let kept = handler
        var configuration = PressureConfiguration()
        (configuration.clock, configuration.isSequential) = (clock, true)
        (configuration.sources, configuration.fileSystem) = ([.simulated(source)], disk)
        configuration.compressedTier = .never
        let manager = try PressureManager(configuration: configuration, logger: Logger(label: "test") { _ in kept })
        let cache = try manager.root.keyedCache("drafts", key: Int.self, value: [UInt8].self)
        let climbed = Lock<[String]>([])
        cache.onFailure { failure in
            climbed.withLock { $0.append("\(failure.kind) \(failure.resource.name)") }
            return true
        }
        let events = manager.events
        disk.set(.init(.error(EIO), on: .write))
        fill(cache, 0..<1000, manager, source)
        _ = manager.drive()
        fill(cache, 1000..<1010, manager, source)
        #expect(manager.snapshot().admission.batches > 0, "there was a batch")
        #expect(climbed.withLock { $0 } == ["spill drafts[0]"] || climbed.withLock { $0.count } == 1)
        let warnings = kept.entries.filter { $0.message == "values could not be spilled" }
        #expect(warnings.count { $0.level == .warning } == 1)
        #expect(warnings.first?.metadata["pressurekit.errno"] == "\(EIO)")
        await manager.shutdown()
        var failures: [PressureError] = []
        for await event in events {
            if case .failure(let error) = event { failures.append(error) }
        }
        #expect(failures.map(\.code) == [.spillFailed])
        #expect(
            (0..<1010).allSatisfy { (try? cache.value(for: $0))?.first == UInt8(truncatingIfNeeded: $0) },
            "nothing was lost"
        )
    }

    /// A hook that never returns costs a reclaim half a second, not the process its life.
    @Test func aHookThatHangsInABatchHoldsNoReclaimUp() async throws {
        final class Hanging: PressureControllerDelegate {
            let state = ConditionLock((isIn: false, mayGo: false))
            func resourceWillEvict(_ resource: PressureResource) {
                state.withLock { $0.isIn = true }
                state.wait { $0.mayGo ? () : nil }
            }
        }
        let source = SimulatedSource()
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) {
            $0.sources = [.simulated(source)]
            // That of all tests takes long to be given back.
            $0.heap = FreeHeap(clock: SystemClock(), process: nil)
        }
        let delegate = Hanging()
        manager.root.delegate = delegate
        let cache = try manager.root.keyedCache("drafts", key: Int.self, value: [UInt8].self)
        source.set(available: Self.limit, of: Self.limit)
        let running = Task { try await manager.run() }
        fill(cache, 0..<1000, manager, source)
        while !delegate.state.withLock(\.isIn) {
            fill(cache, 1000..<1010, manager, source)
            // The batch's thread is to get a processor before memory is really short.
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(manager.level == .normal, "a batch called it, and no reclaim")
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.claimed > .zero)
        #expect(!delegate.state.withLock(\.mayGo), "it still hangs")
        delegate.state.withLock { $0.mayGo = true }
        running.cancel()
        _ = try? await running.value
    }
}
