import CPressureKit
import Dispatch
import Foundation
import PressureKit
import Testing

/// What pressurekit.h promises, call by call.
@Suite(.timeLimit(.minutes(5))) struct PluginTests {
    private let value = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) }

    private func expect(
        _ status: pressurekit_status,
        is expected: some BinaryInteger,
        says word: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(status == pressurekit_status(expected), "\(PluginBench.lastError)", sourceLocation: sourceLocation)
        guard let word else { return }
        #expect(PluginBench.lastError.contains(word), "\(PluginBench.lastError)", sourceLocation: sourceLocation)
    }

    // MARK: Values

    @Test func aValueIsLoadedEvictedAndRestored() throws {
        let bench = try PluginBench()
        let app = PluginApp(value)
        let cache = try bench.cache("thumbnails", app)
        #expect(PluginBench.residency(cache) == 0)
        #expect(try PluginBench.read(cache).get() == value)
        #expect((app.loads, app.releases) == (1, 1))
        // So that it has to be written: what was set, nobody makes again.
        let other = value.map { $0 &+ 1 }
        expect(PluginBench.set(cache, other), is: PRESSUREKIT_OK)
        let report = try bench.warn()
        #expect(report.evicted == 1)
        #expect(report.claimed_bytes >= 100_000)
        #expect(report.failures == 0)
        #expect(PluginBench.residency(cache) == 3)
        #expect(try PluginBench.read(cache).get() == other)
        #expect(PluginBench.residency(cache) == 1)
        #expect(app.loads == 1)
        let statistics = try bench.statistics()
        #expect((statistics.caches, statistics.loads, statistics.restores, statistics.evictions) == (1, 1, 1, 1))
        #expect(statistics.resident_bytes >= 100_000)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func aPinnedValueStaysWhereItIs() throws {
        let bench = try PluginBench()
        let cache = try bench.cache("kept")
        expect(PluginBench.set(cache, value), is: PRESSUREKIT_OK)
        var (pin, count) = (pressurekit_pin_t(0), 0)
        var bytes: UnsafeRawPointer?
        expect(unsafe pressurekit_access(cache, &pin, &bytes, &count), is: PRESSUREKIT_OK)
        #expect(try bench.warn().skipped == 1)
        #expect(PluginBench.residency(cache) == 1)
        // A new value does not touch the one that is held.
        expect(PluginBench.set(cache, [9]), is: PRESSUREKIT_OK)
        #expect(unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count)) == value)
        #expect(try PluginBench.read(cache).get() == [9])
        expect(pressurekit_unpin(pin), is: PRESSUREKIT_OK)
        #expect(try bench.warn().evicted == 1)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func aValueIsUpdatedAndInvalidated() throws {
        let bench = try PluginBench()
        let app = PluginApp([1, 2, 3])
        let cache = try bench.cache("app", app)
        let add: pressurekit_update_fn = { context, bytes, count in
            let step = unsafe context!.load(as: UInt8.self)
            for index in 0..<count {
                let byte = unsafe bytes!.load(fromByteOffset: index, as: UInt8.self)
                unsafe bytes!.storeBytes(of: byte + step, toByteOffset: index, as: UInt8.self)
            }
            return step == 99 ? 7 : 0
        }
        var step: UInt8 = 10
        expect(unsafe pressurekit_update(cache, add, &step), is: PRESSUREKIT_OK)
        #expect(try PluginBench.read(cache).get() == [11, 12, 13])
        step = 99
        expect(unsafe pressurekit_update(cache, add, &step), is: PRESSUREKIT_LOAD_FAILED, says: "returned 7")
        expect(pressurekit_invalidate(cache), is: PRESSUREKIT_OK)
        #expect(try PluginBench.read(cache).get() == [1, 2, 3])
        #expect(app.loads == 2)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func aLoadThatFailsIsSaidAndTriedAgain() throws {
        let bench = try PluginBench()
        let app = PluginApp([1])
        let cache = try bench.cache("app", app)
        app.fail(5)
        #expect(PluginBench.read(cache) == .failure(PluginStatus(code: -5)))
        #expect(PluginBench.lastError.contains("returned 5"))
        #expect(app.releases == 0)
        app.fail(0)
        #expect(PluginBench.read(cache) == .success([1]))
        let unset = try bench.cache("unset")
        #expect(PluginBench.read(unset) == .failure(PluginStatus(code: -4)))
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func aLoadThatReadsItsOwnCacheIsAnError() throws {
        let bench = try PluginBench()
        let app = PluginApp([1])
        let cache = try bench.cache("app", app)
        let manager = bench.manager
        let statuses = Lock<[pressurekit_status]>([])
        app.onLoad {
            if case .failure(let failure) = PluginBench.read(cache) { statuses.withLock { $0.append(failure.code) } }
            statuses.withLock { $0 += [pressurekit_remove_cache(cache), pressurekit_destroy(manager)] }
        }
        #expect(PluginBench.read(cache) == .success([1]))
        #expect(statuses.withLock { $0 } == [-7, -3, -3])
        app.onLoad(nil)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    /// Every call that waits for something, from a load that the manager's return to the foreground waits for, and from
    /// one that a reader does: none waits for itself.
    @Test func noCallFromALoadWaitsForThatLoad() async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try callFromALoad() }) }
        }
    }

    private func callFromALoad() throws {
        let bench = try PluginBench()
        let app = PluginApp(value)
        let cache = try bench.cache("app", app)
        let other = try bench.cache("other")
        expect(PluginBench.set(other, value), is: PRESSUREKIT_OK)
        for visible in [cache, other] { expect(pressurekit_set_visible(visible, 1), is: PRESSUREKIT_OK) }
        #expect(PluginBench.read(cache) == .success(value))
        let manager = bench.manager
        let statuses = Lock<[pressurekit_status]>([])
        app.onLoad {
            let found = Self.callEverything(manager, cache, other)
            statuses.withLock { $0 += found }
        }
        for isForeground in [true, false] {
            expect(pressurekit_enter_background(bench.manager, nil), is: PRESSUREKIT_OK)
            // So that it has to be made again, by the foreground or by a reader.
            expect(pressurekit_invalidate(cache), is: PRESSUREKIT_OK)
            if isForeground { expect(pressurekit_enter_foreground(bench.manager), is: PRESSUREKIT_OK) }
            #expect(PluginBench.read(cache) == .success(value))
            #expect(PluginBench.residency(cache) == 1)
            let expected = [
                PRESSUREKIT_RECURSIVE, PRESSUREKIT_RECURSIVE, PRESSUREKIT_RECURSIVE, PRESSUREKIT_RECURSIVE,
                PRESSUREKIT_RECURSIVE, PRESSUREKIT_OK, PRESSUREKIT_OK, PRESSUREKIT_OK, PRESSUREKIT_OK,
                PRESSUREKIT_IN_USE, PRESSUREKIT_IN_USE,
            ].map { pressurekit_status($0) }
            #expect(statuses.withLock { $0 } == expected)
            statuses.withLock { $0 = [] }
        }
        app.onLoad(nil)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    /// Each call that may wait, and what it says.
    private static func callEverything(
        _ manager: pressurekit_manager_t,
        _ cache: pressurekit_cache_t,
        _ other: pressurekit_cache_t
    ) -> [pressurekit_status] {
        func status(_ result: Result<[UInt8], PluginStatus>) -> pressurekit_status {
            if case .failure(let failure) = result { failure.code } else { PluginBench.ok }
        }
        return unsafe [
            pressurekit_enter_foreground(manager),
            status(PluginBench.read(cache)),
            PluginBench.set(cache, [1]),
            pressurekit_update(cache, { _, _, _ in 0 }, nil),
            pressurekit_invalidate(cache),
            pressurekit_set_visible(cache, 1),
            pressurekit_warn(manager, Int32(PRESSUREKIT_CRITICAL), 0, nil),
            pressurekit_enter_background(manager, nil),
            status(PluginBench.read(other)),
            pressurekit_remove_cache(cache),
            pressurekit_destroy(manager),
        ]
    }

    /// A function that changes a value is a callback as well: the foreground would wait until it has ended.
    @Test func theForegroundIsNotForAFunctionThatChangesAValue() throws {
        let bench = try PluginBench()
        let cache = try bench.cache("a")
        expect(PluginBench.set(cache, [1]), is: PRESSUREKIT_OK)
        expect(pressurekit_set_visible(cache, 1), is: PRESSUREKIT_OK)
        var manager = bench.manager
        let enter: pressurekit_update_fn = { context, _, _ in
            // The handle outlives the call.
            let manager = unsafe context!.load(as: pressurekit_manager_t.self)
            return pressurekit_enter_foreground(manager) == pressurekit_status(PRESSUREKIT_RECURSIVE) ? 0 : 1
        }
        expect(unsafe pressurekit_update(cache, enter, &manager), is: PRESSUREKIT_OK)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    /// On a thread of its own, as an app's: tasks of other tests may keep all of Swift's.
    @Test func theBackgroundTakesWhatIsVisibleAndTheForegroundBringsItBack() async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try goAndComeBack() }) }
        }
    }

    private func goAndComeBack() throws {
        let bench = try PluginBench()
        let cache = try bench.cache("a")
        expect(PluginBench.set(cache, value), is: PRESSUREKIT_OK)
        expect(pressurekit_set_visible(cache, 1), is: PRESSUREKIT_OK)
        expect(pressurekit_enter_background(bench.manager, nil), is: PRESSUREKIT_OK)
        #expect(PluginBench.residency(cache) == 3)
        #expect(try bench.statistics().in_background == 1)
        expect(pressurekit_enter_foreground(bench.manager), is: PRESSUREKIT_OK)
        #expect(PluginBench.residency(cache) == 1)
        #expect(try bench.statistics().in_background == 0)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    // MARK: Mistakes

    @Test func handlesThatAreNoneAreErrorsAndNothingElse() throws {
        let bench = try PluginBench()
        let cache = try bench.cache("a")
        expect(PluginBench.set(cache, value), is: PRESSUREKIT_OK)
        let pin = try PluginBench.pin(cache).get().handle
        for wrong in [0, 1, 2, .max, bench.manager, pin] as [UInt64] {
            #expect(PluginBench.read(wrong) == .failure(PluginStatus(code: -2)))
            expect(PluginBench.set(wrong, [1]), is: PRESSUREKIT_BAD_HANDLE, says: "no cache")
            expect(pressurekit_invalidate(wrong), is: PRESSUREKIT_BAD_HANDLE)
            expect(pressurekit_set_visible(wrong, 1), is: PRESSUREKIT_BAD_HANDLE)
            expect(pressurekit_remove_cache(wrong), is: PRESSUREKIT_BAD_HANDLE)
            expect(unsafe pressurekit_update(wrong, { _, _, _ in 0 }, nil), is: PRESSUREKIT_BAD_HANDLE)
        }
        for wrong in [0, 1, .max, bench.manager, cache] as [UInt64] {
            expect(pressurekit_unpin(wrong), is: PRESSUREKIT_BAD_HANDLE, says: "no pin")
        }
        for wrong in [0, 1, .max, cache, pin] as [UInt64] {
            expect(pressurekit_warn(wrong, 1, 0, nil), is: PRESSUREKIT_BAD_HANDLE, says: "no manager")
            expect(pressurekit_enter_background(wrong, nil), is: PRESSUREKIT_BAD_HANDLE)
            expect(pressurekit_enter_foreground(wrong), is: PRESSUREKIT_BAD_HANDLE)
            expect(pressurekit_destroy(wrong), is: PRESSUREKIT_BAD_HANDLE)
        }
        expect(pressurekit_unpin(pin), is: PRESSUREKIT_OK)
        expect(pressurekit_unpin(pin), is: PRESSUREKIT_BAD_HANDLE)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
        expect(bench.destroy(), is: PRESSUREKIT_BAD_HANDLE)
        #expect(PluginBench.read(cache) == .failure(PluginStatus(code: -2)))
    }

    @Test func whatIsInUseIsNotDestroyed() throws {
        let bench = try PluginBench()
        let cache = try bench.cache("a")
        expect(PluginBench.set(cache, value), is: PRESSUREKIT_OK)
        let pin = try PluginBench.pin(cache).get().handle
        expect(bench.destroy(), is: PRESSUREKIT_IN_USE, says: "pinned")
        expect(pressurekit_remove_cache(cache), is: PRESSUREKIT_IN_USE)
        #expect(PluginBench.read(cache) == .success(value))
        expect(pressurekit_unpin(pin), is: PRESSUREKIT_OK)
        expect(pressurekit_remove_cache(cache), is: PRESSUREKIT_OK)
        #expect(try bench.statistics().caches == 0)
        // The name is free again.
        _ = try bench.cache("a")
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func nullsAreErrors() throws {
        let bench = try PluginBench()
        let cache = try bench.cache("a")
        var (pin, count) = (pressurekit_pin_t(0), 0)
        var bytes: UnsafeRawPointer?
        expect(pressurekit_create(nil, nil), is: PRESSUREKIT_BAD_ARGUMENT, says: "NULL")
        expect(unsafe pressurekit_add_cache(bench.manager, nil, nil, &pin), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(unsafe pressurekit_add_cache(bench.manager, "b", nil, nil), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(unsafe pressurekit_access(cache, nil, &bytes, &count), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(unsafe pressurekit_access(cache, &pin, nil, &count), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(unsafe pressurekit_access(cache, &pin, &bytes, nil), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(pressurekit_set(cache, nil, 5), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(pressurekit_update(cache, nil, nil), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(pressurekit_get_residency(cache, nil), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(pressurekit_get_statistics(bench.manager, nil), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test(arguments: ["", "a/b", "a", String(repeating: "x", count: 256)]) func namesAreChecked(name: String) throws {
        let bench = try PluginBench()
        _ = try bench.cache("a")
        var cache: pressurekit_cache_t = 0
        let status = unsafe pressurekit_add_cache(bench.manager, name, nil, &cache)
        expect(status, is: name == "a" ? PRESSUREKIT_DUPLICATE : PRESSUREKIT_BAD_ARGUMENT)
        #expect(cache == 0)
        expect(
            unsafe pressurekit_add_cache(bench.manager, [-1, -2, 0], nil, &cache),
            is: PRESSUREKIT_BAD_ARGUMENT,
            says: "UTF-8"
        )
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func countsLevelsAndPathsAreChecked() throws {
        let bench = try PluginBench()
        let cache = try bench.cache("a")
        for count in [-1, .min, .max, 1 << 40 + 1] {
            expect(unsafe pressurekit_set(cache, [UInt8(1)], count), is: PRESSUREKIT_BAD_ARGUMENT)
        }
        for level in [0, 3, -1, .max, .min] as [Int32] {
            expect(pressurekit_warn(bench.manager, level, 0, nil), is: PRESSUREKIT_BAD_ARGUMENT)
        }
        expect(pressurekit_warn(bench.manager, 1, .max, nil), is: PRESSUREKIT_BAD_ARGUMENT)
        var options = unsafe pressurekit_options()
        unsafe options.size = MemoryLayout<pressurekit_options>.size
        var manager: pressurekit_manager_t = 0
        unsafe "/no/such/directory".withCString { path in
            unsafe options.spill_directory = path
            expect(
                unsafe pressurekit_create(&options, &manager),
                is: PRESSUREKIT_UNAVAILABLE,
                says: "/no/such/directory"
            )
            unsafe options.spill_directory = nil
            unsafe options.control_socket = path
            expect(unsafe pressurekit_create(&options, &manager), is: PRESSUREKIT_UNAVAILABLE, says: "control socket")
        }
        #expect(manager == 0)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    // MARK: Growth

    /// An older library and a newer program, and the other way round.
    @Test func structuresGrowAtTheirEnds() throws {
        let bench = try PluginBench()
        @unsafe struct Later {
            var options = unsafe pressurekit_options()
            var more: UInt64 = 0
        }
        var later = unsafe Later()
        unsafe later.options.flags = UInt32(PRESSUREKIT_NO_WATCH)
        var manager: pressurekit_manager_t = 0
        func create(_ size: Int) -> pressurekit_status {
            unsafe later.options.size = size
            return unsafe withUnsafePointer(to: &later) { later in
                unsafe later.withMemoryRebound(to: pressurekit_options.self, capacity: 1) {
                    unsafe pressurekit_create($0, &manager)
                }
            }
        }
        unsafe expect(create(MemoryLayout<Later>.size), is: PRESSUREKIT_OK)
        expect(pressurekit_destroy(manager), is: PRESSUREKIT_OK)
        unsafe later.more = 1
        unsafe expect(create(MemoryLayout<Later>.size), is: PRESSUREKIT_BAD_ARGUMENT, says: "does not know")
        for size in [0, 8, 71, 4097, -1] { expect(create(size), is: PRESSUREKIT_BAD_ARGUMENT, says: "size") }
        unsafe later.options.reserved.2 = 1
        expect(create(72), is: PRESSUREKIT_BAD_ARGUMENT, says: "reserved")
        unsafe later.options.reserved.2 = 0
        unsafe later.options.flags = 4
        expect(create(72), is: PRESSUREKIT_BAD_ARGUMENT, says: "flags")

        // A program of an earlier version, which has room for two members only.
        let cache = try bench.cache("a")
        expect(PluginBench.set(cache, value), is: PRESSUREKIT_OK)
        var report = pressurekit_report()
        report.size = 24
        report.evicted = 42
        expect(unsafe pressurekit_warn(bench.manager, 2, 0, &report), is: PRESSUREKIT_OK)
        #expect(report.size == 24)
        #expect(report.claimed_bytes >= 100_000)
        #expect(report.evicted == 42)
        report.size = 8
        expect(unsafe pressurekit_warn(bench.manager, 2, 0, &report), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func anErrorIsTheThreadsOwnAndBounded() throws {
        expect(pressurekit_destroy(7), is: PRESSUREKIT_BAD_HANDLE)
        let here = PluginBench.lastError
        let there = Lock("?")
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let first = PluginBench.lastError
            there.withLock { $0 = first }
            done.signal()
        }
        done.wait()
        #expect(there.withLock { $0 } == "")
        #expect(PluginBench.lastError == here)
        var options = unsafe pressurekit_options()
        unsafe options.size = MemoryLayout<pressurekit_options>.size
        var manager: pressurekit_manager_t = 0
        unsafe ("/" + String(repeating: "ü", count: 1000)).withCString { path in
            unsafe options.spill_directory = path
            expect(unsafe pressurekit_create(&options, &manager), is: PRESSUREKIT_UNAVAILABLE)
        }
        #expect((500...511).contains(PluginBench.lastError.utf8.count))
        #expect(unsafe String(validatingCString: pressurekit_last_error()) != nil)
    }

    // MARK: Many threads

    /// Readers, writers, reclaims and removals at once; whoever is late gets an error, and nobody a wrong byte.
    @Test func manyThreadsMayDoAnythingAtOnce() throws {
        let bench = try PluginBench()
        let apps = (0..<4).map { PluginApp([UInt8](repeating: UInt8($0 + 1), count: 20_000 * ($0 + 1))) }
        let caches = try apps.enumerated().map { try bench.cache("\($0)", $1) }
        let wrong = Lock(0)
        DispatchQueue.concurrentPerform(iterations: 8) { worker in
            for round in 0..<200 {
                let index = (worker + round) % caches.count
                switch (worker, round % 20) {
                case (0, 7): _ = pressurekit_warn(bench.manager, 2, 0, nil)
                case (1, 3): _ = pressurekit_invalidate(caches[index])
                case (2, 5): _ = pressurekit_destroy(bench.manager)
                default:
                    guard case .success(let bytes) = PluginBench.read(caches[index]) else { continue }
                    let isRight = bytes.count == 20_000 * (index + 1) && bytes.allSatisfy { $0 == UInt8(index + 1) }
                    if !isRight { wrong.withLock { $0 += 1 } }
                }
            }
        }
        #expect(wrong.withLock { $0 } == 0)
        // Perhaps it was destroyed in a moment when nobody was using it.
        let status = bench.destroy()
        #expect([0, -2].contains(status))
        for app in apps { #expect(app.loads == app.releases) }
    }
}
