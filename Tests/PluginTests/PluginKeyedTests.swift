import CPressureKit
import Dispatch
import PressureKit
import PressureKitC
import Testing

/// Keyed caches, as pressurekit.h promises them.
@Suite(.timeLimit(.minutes(2))) struct PluginKeyedTests {
    private let value = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 / 7) }

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

    /// The key itself, three times; a key of an `x` is a failure that says so.
    private static let triple: pressurekit_load_key_fn = { _, key, count, address, size in
        let key = unsafe UnsafeRawBufferPointer(start: key, count: count)
        guard unsafe key.first != UInt8(ascii: "x") else {
            unsafe pressurekit_set_error("no such tile")
            return 4
        }
        let made = UnsafeMutableRawBufferPointer.allocate(byteCount: 3 * count, alignment: 1)
        for index in 0..<3 * count { unsafe made[index] = key[index % count] }
        unsafe address!.pointee = UnsafeRawPointer(made.baseAddress)
        unsafe size!.pointee = made.count
        return 0
    }

    private func keyedCache(
        _ bench: PluginBench,
        _ name: String,
        loads: Bool = false,
        limit: UInt64 = 0
    ) throws -> pressurekit_cache_t {
        var options = unsafe pressurekit_keyed_options()
        unsafe options.size = MemoryLayout<pressurekit_keyed_options>.size
        if loads { unsafe options.load = Self.triple }
        // Allocated by the function above.
        unsafe options.release = { _, bytes, _ in unsafe UnsafeMutableRawPointer(mutating: bytes!).deallocate() }
        unsafe options.limit_values = limit
        var cache: pressurekit_cache_t = 0
        expect(unsafe pressurekit_add_keyed_cache(bench.manager, name, &options, &cache), is: PRESSUREKIT_OK)
        return cache
    }

    private func read(_ cache: pressurekit_cache_t, _ key: [UInt8]) -> Result<[UInt8], PluginStatus> {
        var (pin, count) = (pressurekit_pin_t(0), 0)
        var bytes: UnsafeRawPointer?
        let status = unsafe pressurekit_access_key(cache, key, key.count, &pin, &bytes, &count)
        guard status == PluginBench.ok else { return .failure(PluginStatus(code: status)) }
        defer { _ = pressurekit_unpin(pin) }
        return .success(unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count)))
    }

    private func residency(_ cache: pressurekit_cache_t, _ key: [UInt8]) -> Int32 {
        var residency: Int32 = -1
        expect(unsafe pressurekit_get_key_residency(cache, key, key.count, &residency), is: PRESSUREKIT_OK)
        return residency
    }

    private func count(_ cache: pressurekit_cache_t) -> UInt64 {
        var count: UInt64 = .max
        expect(unsafe pressurekit_get_key_count(cache, &count), is: PRESSUREKIT_OK)
        return count
    }

    @Test(arguments: [[], [97], [0, 255, 35], [35, 48, 48], Array("zürich".utf8), .init(repeating: 7, count: 4096)])
    func aValueIsMadeForItsKey(key: [UInt8]) throws {
        let bench = try PluginBench()
        let cache = try keyedCache(bench, "tiles", loads: true)
        #expect(residency(cache, key) == 0)
        #expect(try read(cache, key).get() == key + key + key)
        #expect((residency(cache, key), count(cache)) == (1, 1))
        expect(unsafe pressurekit_invalidate_key(cache, key, key.count), is: PRESSUREKIT_OK)
        #expect(residency(cache, key) == 0)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func valuesThatWereSetAreSpilledUpdatedAndRestored() throws {
        let bench = try PluginBench()
        let cache = try keyedCache(bench, "kept")
        for key in UInt8(0)..<10 {
            expect(unsafe pressurekit_set_key(cache, [key], 1, value, value.count), is: PRESSUREKIT_OK)
        }
        #expect(try bench.warn().evicted == 10)
        #expect((residency(cache, [3]), count(cache)) == (3, 10))
        let mark: pressurekit_update_fn = { _, bytes, _ in
            unsafe bytes!.storeBytes(of: 200, as: UInt8.self)
            return 0
        }
        expect(unsafe pressurekit_update_key(cache, [3], 1, mark, nil), is: PRESSUREKIT_OK)
        _ = try bench.warn()
        for key in UInt8(0)..<10 {
            #expect(try read(cache, [key]).get() == (key == 3 ? [200] + value.dropFirst() : value))
        }
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func aFailureIsToldWithItsWordsAndItsKey() throws {
        let bench = try PluginBench()
        let cache = try keyedCache(bench, "tiles", loads: true)
        #expect(read(cache, Array("x1".utf8)) == .failure(PluginStatus(code: -5)))
        #expect(PluginBench.lastError == "The load callback of \"tiles\" failed: no such tile")
        #expect(pressurekit_last_callback_result() == 4)
        let unset = try keyedCache(bench, "unset")
        #expect(read(unset, Array("a/b".utf8)) == .failure(PluginStatus(code: -4)))
        #expect(PluginBench.lastError.hasPrefix("The cache \"unset[a/b]\" has no load callback and no value."))
        #expect(read(unset, [35, 1, 255]) == .failure(PluginStatus(code: -4)))
        #expect(PluginBench.lastError.contains("\"unset[#2301ff]\""))
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func itKeepsToItsLimit() throws {
        let bench = try PluginBench()
        let cache = try keyedCache(bench, "few", loads: true, limit: 4)
        for key in UInt8(1)..<100 { #expect(try read(cache, [key]).get() == [key, key, key]) }
        #expect((UInt8(1)..<100).count { residency(cache, [$0]) == 1 } <= 4)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func aLoadThatUsesItsOwnCacheIsAnError() throws {
        let bench = try PluginBench()
        let cache = try keyedCache(bench, "a")
        expect(unsafe pressurekit_set_key(cache, "k", 1, value, value.count), is: PRESSUREKIT_OK)
        let other: pressurekit_update_fn = { context, _, _ in
            // The handle outlives the call.
            let cache = unsafe context!.load(as: pressurekit_cache_t.self)
            return pressurekit_invalidate_key(cache, nil, 0) == pressurekit_status(PRESSUREKIT_RECURSIVE) ? 0 : 1
        }
        var handle = cache
        expect(unsafe pressurekit_update_key(cache, "k", 1, other, &handle), is: PRESSUREKIT_OK)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func oneKindOfCacheIsNotTheOther() throws {
        let bench = try PluginBench()
        let (one, many) = (try bench.cache("one"), try keyedCache(bench, "many", loads: true))
        expect(PluginBench.set(many, [1]), is: PRESSUREKIT_BAD_HANDLE, says: "\"many\" is no cache of one value")
        #expect(PluginBench.read(many) == .failure(PluginStatus(code: -2)))
        #expect(read(one, [1]) == .failure(PluginStatus(code: -2)))
        #expect(PluginBench.lastError.contains("\"one\" is no keyed cache"))
        expect(pressurekit_invalidate_key(bench.manager, nil, 0), is: PRESSUREKIT_BAD_HANDLE)
        // What failed holds nothing.
        expect(pressurekit_set_visible(many, 1), is: PRESSUREKIT_OK)
        expect(pressurekit_remove_cache(many), is: PRESSUREKIT_OK)
        expect(pressurekit_remove_cache(one), is: PRESSUREKIT_OK)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    @Test func keysAndOptionsAreChecked() throws {
        let bench = try PluginBench()
        let cache = try keyedCache(bench, "a")
        for count in [4097, -1, .max, .min] {
            expect(unsafe pressurekit_invalidate_key(cache, [1], count), is: PRESSUREKIT_BAD_ARGUMENT, says: "4096")
        }
        expect(pressurekit_invalidate_key(cache, nil, 1), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(pressurekit_set_key(cache, nil, 0, nil, 1), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(pressurekit_update_key(cache, nil, 0, nil, nil), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(pressurekit_access_key(cache, nil, 0, nil, nil, nil), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(pressurekit_get_key_residency(cache, nil, 0, nil), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(pressurekit_get_key_count(cache, nil), is: PRESSUREKIT_BAD_ARGUMENT)
        expect(pressurekit_add_keyed_cache(bench.manager, nil, nil, nil), is: PRESSUREKIT_BAD_ARGUMENT)
        var other: pressurekit_cache_t = 0
        expect(unsafe pressurekit_add_keyed_cache(bench.manager, "a", nil, &other), is: PRESSUREKIT_DUPLICATE)
        var options = unsafe pressurekit_keyed_options()
        expect(
            unsafe pressurekit_add_keyed_cache(bench.manager, "b", &options, &other),
            is: PRESSUREKIT_BAD_ARGUMENT,
            says: "size"
        )
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }

    /// Readers, writers and reclaims at once; nobody gets a wrong byte.
    @Test func manyThreadsMayUseManyKeys() throws {
        let bench = try PluginBench()
        let cache = try keyedCache(bench, "tiles", loads: true, limit: 16)
        let wrong = Lock(0)
        DispatchQueue.concurrentPerform(iterations: 8) { worker in
            for round in 0..<200 {
                let key = [UInt8(round % 40), UInt8(worker % 2)]
                switch (worker, round % 20) {
                case (0, 7): _ = pressurekit_warn(bench.manager, 2, 0, nil)
                case (1, 3): _ = unsafe pressurekit_invalidate_key(cache, key, 2)
                default: if read(cache, key) != .success(key + key + key) { wrong.withLock { $0 += 1 } }
                }
            }
        }
        #expect(wrong.withLock { $0 } == 0)
        expect(bench.destroy(), is: PRESSUREKIT_OK)
    }
}
