import CPressureKit
import Dispatch
import Foundation
import PressureKit
import Testing

/// What pressurekit_last_error() says: the app's words as they are, and the library's without its own names.
@Suite(.timeLimit(.minutes(2))) struct PluginMessageTests {
    private func code<Value>(_ result: Result<Value, PluginStatus>) -> pressurekit_status {
        if case .failure(let failure) = result { failure.code } else { PluginBench.ok }
    }

    @Test func whatACallbackSaysReachesItsReader() throws {
        let bench = try PluginBench()
        let app = PluginApp([1])
        let cache = try bench.cache("app", app)
        app.fail(5, saying: "no such key: Zürich")
        #expect(code(PluginBench.read(cache)) == -5)
        #expect(PluginBench.lastError == "The load callback of \"app\" failed: no such key: Zürich")
        #expect(pressurekit_last_callback_result() == 5)
        // It was about that failure, and is forgotten with it.
        app.fail(6)
        #expect(code(PluginBench.read(cache)) == -5)
        #expect(PluginBench.lastError == "The load callback of \"app\" returned 6.")
        #expect(pressurekit_last_callback_result() == 6)
        // So is what was said before a success.
        app.fail(0, saying: "nothing is wrong")
        #expect(try PluginBench.read(cache).get() == [1])
        app.fail(7)
        #expect(pressurekit_invalidate(cache) == PluginBench.ok)
        #expect(code(PluginBench.read(cache)) == -5)
        #expect(PluginBench.lastError == "The load callback of \"app\" returned 7.")
        #expect(pressurekit_unpin(1) == -2)
        #expect(pressurekit_last_callback_result() == 0)
        #expect(bench.destroy() == PluginBench.ok)
    }

    @Test func whatAnUpdateSaysReachesItsCallerAndIsCut() throws {
        let bench = try PluginBench()
        let cache = try bench.cache("notes")
        #expect(PluginBench.set(cache, [1]) == PluginBench.ok)
        let update: pressurekit_update_fn = { _, _, _ in
            unsafe pressurekit_set_error(String(repeating: "ü", count: 400))
            return 9
        }
        #expect(unsafe pressurekit_update(cache, update, nil) == -5)
        #expect(PluginBench.lastError.hasPrefix("The update callback of \"notes\" failed: üüü"))
        #expect((500...511).contains(PluginBench.lastError.utf8.count))
        #expect(unsafe String(validatingCString: pressurekit_last_error()) != nil)
        #expect(pressurekit_last_callback_result() == 9)
        #expect(bench.destroy() == PluginBench.ok)
    }

    /// Each says its own: the inner one's words are not the outer one's, nor the other way round.
    @Test func aCallbackInACallbackHasItsOwnWords() throws {
        let bench = try PluginBench()
        let (outer, inner) = (PluginApp([1]), PluginApp([2]))
        let (outerCache, innerCache) = (try bench.cache("outer", outer), try bench.cache("inner", inner))
        let heard = Lock("")
        outer.onLoad {
            _ = PluginBench.read(innerCache)
            heard.withLock { $0 = PluginBench.lastError }
        }
        inner.fail(3, saying: "inner")
        outer.fail(4)
        #expect(code(PluginBench.read(outerCache)) == -5)
        #expect(heard.withLock { $0 } == "The load callback of \"inner\" failed: inner")
        #expect(PluginBench.lastError == "The load callback of \"outer\" returned 4.")
        outer.fail(4, saying: "outer")
        inner.fail(0)
        #expect(code(PluginBench.read(outerCache)) == -5)
        #expect(PluginBench.lastError == "The load callback of \"outer\" failed: outer")
        outer.onLoad(nil)
        #expect(bench.destroy() == PluginBench.ok)
    }

    /// Two readers, one load: the one that waited is told as well.
    @Test func whoWaitedForALoadIsToldWhatItSaid() throws {
        let bench = try PluginBench()
        let app = PluginApp([1])
        let cache = try bench.cache("app", app)
        app.fail(8, saying: "for both")
        let waiting = DispatchSemaphore(value: 0)
        let said = Lock<[String]>([])
        let done = DispatchSemaphore(value: 0)
        app.onLoad {
            // One load: the second reader comes while it runs, and the load goes on when that sleeps, or a moment later.
            Thread.detachNewThread {
                waiting.signal()
                _ = PluginBench.read(cache)
                let text = "\(pressurekit_last_callback_result()) \(PluginBench.lastError)"
                said.withLock { $0.append(text) }
                done.signal()
            }
            app.onLoad(nil)
            waiting.wait()
        }
        #expect(code(PluginBench.read(cache)) == -5)
        done.wait()
        // Whether it waited or loaded for itself, it was told.
        #expect(said.withLock { $0 } == ["8 The load callback of \"app\" failed: for both"])
        #expect(bench.destroy() == PluginBench.ok)
    }

    @Test func messagesNameTheCacheAndNothingInside() throws {
        let bench = try PluginBench()
        _ = try bench.cache("a")
        var cache: pressurekit_cache_t = 0
        #expect(unsafe pressurekit_add_cache(bench.manager, "a", nil, &cache) == -8)
        #expect(
            PluginBench.lastError
                == "There is a cache \"a\" already. Give this one another name, or remove that one first."
        )
        #expect(unsafe pressurekit_add_cache(bench.manager, "b/c", nil, &cache) == -1)
        #expect(PluginBench.lastError == "The name is \"b/c\"; it must not be empty or contain a slash.")
        let unset = try bench.cache("unset")
        #expect(code(PluginBench.read(unset)) == -4)
        #expect(
            PluginBench.lastError
                == "The cache \"unset\" has no load callback and no value. Set one, or add it with a load callback."
        )
        var options = unsafe pressurekit_options()
        unsafe options.size = MemoryLayout<pressurekit_options>.size
        var manager: pressurekit_manager_t = 0
        unsafe "/no/such/directory".withCString { path in
            unsafe options.spill_directory = path
            #expect(unsafe pressurekit_create(&options, &manager) == -9)
        }
        #expect(PluginBench.lastError.contains("spill_directory"), "\(PluginBench.lastError)")
        #expect(!PluginBench.lastError.contains("spillDirectory"), "\(PluginBench.lastError)")
        #expect(bench.destroy() == PluginBench.ok)
    }

    // MARK: Empty values

    @Test func anEmptyValueIsAValue() throws {
        let bench = try PluginBench()
        let app = PluginApp([])
        let (loaded, kept) = (try bench.cache("loaded", app), try bench.cache("kept"))
        #expect(PluginBench.read(loaded) == .success([]))
        #expect((app.loads, app.releases) == (1, 0))
        #expect(pressurekit_set(kept, nil, 0) == PluginBench.ok)
        #expect(PluginBench.read(kept) == .success([]))
        #expect(try bench.warn().failures == 0)
        #expect(PluginBench.read(kept) == .success([]))
        #expect(PluginBench.read(loaded) == .success([]))
        let count: pressurekit_update_fn = { _, _, count in Int32(count) }
        #expect(unsafe pressurekit_update(kept, count, nil) == PluginBench.ok)
        var (pin, size) = (pressurekit_pin_t(0), -1)
        var bytes: UnsafeRawPointer?
        #expect(unsafe pressurekit_access(kept, &pin, &bytes, &size) == PluginBench.ok)
        #expect(unsafe bytes != nil)
        #expect(size == 0)
        #expect(pressurekit_unpin(pin) == PluginBench.ok)
        #expect(pressurekit_set(kept, nil, 1) == -1)
        #expect(bench.destroy() == PluginBench.ok)
    }

    @Test func aCallbackThatGivesNothingHasMadeNoEmptyValue() throws {
        let bench = try PluginBench()
        var options = unsafe pressurekit_cache_options()
        unsafe options.size = MemoryLayout<pressurekit_cache_options>.size
        unsafe options.load = { _, _, _ in 0 }
        var cache: pressurekit_cache_t = 0
        #expect(unsafe pressurekit_add_cache(bench.manager, "a", &options, &cache) == PluginBench.ok)
        #expect(code(PluginBench.read(cache)) == -5)
        #expect(PluginBench.lastError.contains("gave no number of bytes"))
        #expect(bench.destroy() == PluginBench.ok)
    }
}
