import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// An app with a manager, a disk that fails when it is told to, and a clock that stands still; and what each value has to
/// be when all is over.
final class FaultBench {
    /// The disk itself, which is sound.
    let base: InMemoryFileSystem
    /// What the library sees of it.
    let disk: FaultyFileSystem
    let clock = ManualClock()
    let manager: PressureManager
    let controller: PressureController
    /// Works ahead when it is driven by hand.
    let worker: CleaningWorker
    private(set) var values: [TrackedValue] = []
    /// Whether what happens to the disk is the system's right, and no reason for anything to fail.
    var isHarmless = false
    /// Whether the disk fails only after it has taken a write: nothing that it ever said it has may be lost then, and what
    /// it has not is gone whenever somebody looks.
    var failsLate = false

    init(
        on base: InMemoryFileSystem = InMemoryFileSystem(),
        configure: (inout PressureConfiguration) -> Void = { _ in }
    ) throws {
        let (disk, clock) = (FaultyFileSystem(wrapping: base), clock)
        manager = try makeManager(fileSystem: disk) { configuration in
            configuration.clock = clock
            configuration.copiesAhead = false
            configure(&configuration)
        }
        (self.base, self.disk) = (base, disk)
        controller = try addController("app", to: manager.root)
        worker = CleaningWorker(
            engine: manager.context.engine,
            root: manager.root,
            rate: .gibibytes(1),
            isUnpressured: { true },
            read: { BusyReading(time: $0) }
        )
    }

    var engine: ReclaimEngine { manager.context.engine }

    // MARK: Values

    /// A cache with a value of its own, or with one that its loader makes and that is in memory.
    @discardableResult
    func add(_ name: String, _ bytes: [UInt8], isLoaded: Bool = false) throws -> LazyCache<[UInt8]> {
        // Written, not dropped because making it again is quicker.
        let allowed: Disposition = [.keep, .spill, .compress]
        let cache =
            isLoaded
            ? try controller.cache(name, options: .init(supportedDispositions: allowed)) { bytes }
            : try controller.cache(name, initialValue: bytes)
        if isLoaded { try cache.loadIfNeeded() }
        track(cache, bytes, isLoaded: isLoaded)
        return cache
    }

    /// A value that is there already.
    func track(_ cache: LazyCache<[UInt8]>, _ bytes: [UInt8], isLoaded: Bool = false) {
        let value = TrackedValue(path: cache.path, bytes, isLoaded: isLoaded) { try cache.value() }
        value.forget = { try? cache.invalidate() }
        value.peek = { try cache.valueIfPresent() }
        value.update = { bytes in try cache.update { $0 = bytes } }
        value.updateOrMake = { bytes in try cache.update(default: []) { $0 = bytes } }
        value.set = { try? cache.set($0) }
        values.append(value)
    }

    /// A value by key.
    func track<Value: Spillable>(
        _ key: Int,
        of cache: KeyedCache<Int, Value>,
        _ bytes: [UInt8],
        isLoaded: Bool = false,
        from make: @escaping ([UInt8]) -> Value,
        to read: @escaping (Value) -> [UInt8]
    ) {
        let value = TrackedValue(path: "\(cache.path)[\(key)]", bytes, isLoaded: isLoaded) {
            try cache.withValue(for: key, read)
        }
        value.forget = { cache.invalidate(for: key) }
        value.peek = { try cache.valueIfPresent(for: key).map(read) }
        value.update = { bytes in try cache.update(for: key) { $0 = make(bytes) } }
        value.updateOrMake = { bytes in try cache.update(for: key, default: make([])) { $0 = make(bytes) } }
        value.set = { cache.set(make($0), for: key) }
        values.append(value)
    }

    // MARK: What workflows do

    /// A critical warning.
    @discardableResult
    func warn() async -> EvictionReport { await manager.simulateMemoryWarning(.critical) }

    /// Reads every value; a failure is one that may be.
    func readAll(_ context: String) {
        disk.writeBack()
        for value in values { value.check(mayFail: !isHarmless && !failsLate, context) }
    }

    /// Reads every value that is there, as `readAll` does; no loader makes up for a failure.
    func readPresent(_ context: String) {
        disk.writeBack()
        for value in values { value.checkPresent(mayFail: !isHarmless && !failsLate, context) }
    }

    /// Lets everything become cold, and the worker do all there is to do.
    func workAhead() {
        for _ in 0..<3 {
            worker.wake()
            clock.advance(by: ColdLine.interval)
        }
        for _ in 0..<40 {
            guard let pause = worker.step() ?? nil else { return }
            clock.advance(by: pause)
        }
    }

    /// A copy of each value, written as it is because memory is short, and worth compressing later.
    func copyInHaste(_ cache: LazyCache<[UInt8]>) throws {
        let hasty = ChunkCopier(file: engine.file, choice: .stored, compressesLater: true)
        let encoder = try ChunkEncoder()
        // The slot is the entry's own, and nobody else works on it.
        let slot = unsafe cache.entry.slot.base
        try #require(unsafe cache.entry.beginCopy(slot, in: engine.file))
        let chunks = unsafe SegmentFile.chunkCount(forByteCount: cache.entry.plainByteCount(slot))
        let result = unsafe hasty.copy(0..<chunks, of: cache.entry, slot, with: encoder, for: .reclaim)
        unsafe cache.entry.finishCopy(slot, succeeded: result.failure == nil, isProvisional: true)
    }

    // MARK: When all is over

    /// The disk is well again: every value is what it has to be, and when all are gone nothing is left of them.
    ///
    /// - Parameter files: open files that belong to something else than the spill file.
    func settle(_ context: String, otherFiles: Int = 0) async {
        disk.set(nil)
        // Past any pause that a failure has caused.
        clock.advance(by: .seconds(120))
        if failsLate {
            disk.writeBack()
            for value in values { value.check(mayFail: false, context) }
            // What the file has to say of it is said here.
            engine.file.drainWriteback()
            await warn()
            clock.advance(by: .seconds(120))
        }
        for value in values { value.check(mayFail: false, context) }
        // What failed can be done now.
        let report = await warn()
        #expect(report.failures.isEmpty, "\(context): \(report.failures)")
        for value in values { value.check(mayFail: false, "\(context), once more") }
        let caches = manager.snapshot().controllers.flatMap(\.caches)
        #expect(caches.allSatisfy { $0.pins == 0 }, "\(context): a value is pinned")
        if isHarmless { #expect(caches.allSatisfy { $0.failures == 0 }, "\(context): something failed") }

        for value in values { value.forget() }
        engine.file.punchPending()
        engine.memory?.punchPending()
        let tiers = manager.snapshot().tiers
        #expect([tiers.resident, tiers.compressed, tiers.spilled] == [.zero, .zero, .zero], "\(context)")
        for file in [engine.file, engine.memory].compactMap(\.self) {
            let usage = file.usage()
            let left = [
                usage.frames, usage.plainBytes, usage.storedBytes, usage.occupiedBytes, usage.freeBytes,
                usage.pendingBytes, usage.fileBytes, usage.allocatedBytes ?? 0,
            ]
            #expect(left == [0, 0, 0, 0, 0, 0, 0, 0], "\(context): \(usage)")
        }
        #expect(base.openFiles == 1 + otherFiles, "\(context)")
        if otherFiles == 0 { #expect(base.usedBytes == .zero && base.names.isEmpty, "\(context)") }
    }
}

/// A value and what it has to be.
final class TrackedValue {
    let path: String
    /// Whether a loader makes it, as it is now.
    var isLoaded: Bool
    var bytes: [UInt8]
    var forget: () -> Void = {}
    var peek: () throws -> [UInt8]? = { nil }
    var update: ([UInt8]) throws -> Void = { _ in }
    var updateOrMake: ([UInt8]) throws -> Void = { _ in }
    var set: ([UInt8]) -> Void = { _ in }
    private let read: () throws -> [UInt8]

    init(path: String, _ bytes: [UInt8], isLoaded: Bool, read: @escaping () throws -> [UInt8]) {
        (self.path, self.bytes, self.isLoaded, self.read) = (path, bytes, isLoaded, read)
    }

    /// Reads it: right bytes, or, if that may be and no loader makes it, an error that says which value it is.
    func check(mayFail: Bool, _ context: String) {
        do {
            let found = try read()
            if !isSame(found, bytes) { Issue.record("\(context): \(path) has \(found.count) wrong bytes") }
        } catch {
            judge(error, mayFail: mayFail && !isLoaded, context)
        }
    }

    /// The same without its loader, which alone may have it missing.
    func checkPresent(mayFail: Bool, _ context: String) {
        do {
            let found = try peek()
            if let found, !isSame(found, bytes) { Issue.record("\(context): \(path) has \(found.count) wrong bytes") }
            if found == nil, !isLoaded { Issue.record("\(context): \(path) is missing") }
        } catch {
            judge(error, mayFail: mayFail, context)
        }
    }

    /// Changes it without its loader, or makes it; it keeps what it was when that fails.
    func changeOrMake(to new: [UInt8], _ context: String) {
        do {
            try updateOrMake(new)
            (bytes, isLoaded) = (new, false)
        } catch {
            judge(error, mayFail: true, context)
        }
    }

    /// Changes it; it keeps what it was when that fails.
    func change(to new: [UInt8], _ context: String) {
        do {
            try update(new)
            (bytes, isLoaded) = (new, false)
        } catch {
            judge(error, mayFail: !isLoaded, context)
        }
    }

    private func judge(_ error: any Error, mayFail: Bool, _ context: String) {
        guard mayFail, let error = error as? PressureError,
            [.restoreFailed, .damagedCopy].contains(error.code), error.path == path
        else {
            Issue.record("\(context): \(path): \(error)")
            return
        }
    }
}
