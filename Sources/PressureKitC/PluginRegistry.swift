import CPressureKit
import PressureKit

/// All handles that were given out, and who is using what they stand for.
///
/// A handle is a number that says nothing: whatever a caller passes, it is looked up, and what is not there is an error.
final class PluginRegistry: Sendable {
    private enum Object {
        case manager(PluginManager)
        case cache(any AnyPluginCache, manager: UInt64)
        case pin(PluginPin, cache: UInt64)

        var manager: PluginManager? {
            guard case .manager(let manager) = self else { return nil }
            return manager
        }
    }

    private struct Entry {
        let object: Object
        /// Calls that are under way, and pins; a cache's count for its manager as well.
        var uses = 0
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var given: UInt64 = 0

        mutating func add(_ object: Object, uses: Int = 0) -> UInt64 {
            given += 1
            // Odd, so that no number comes twice; and small numbers, which callers make up, are none.
            let handle = given &* 0x9E37_79B9_7F4A_7C15
            entries[handle] = Entry(object: object, uses: uses)
            return handle
        }

        mutating func use(_ handle: UInt64, _ change: Int) {
            entries[handle]?.uses += change
            if case .cache(_, let manager) = entries[handle]?.object { entries[manager]?.uses += change }
        }
    }

    /// The process's.
    static let shared = PluginRegistry()

    private let state = Lock(State())

    // MARK: Managers

    func add(_ manager: PluginManager) -> UInt64 { state.withLock { $0.add(.manager(manager)) } }

    /// Calls `body` with a manager, which cannot be destroyed meanwhile.
    func withManager<Result>(_ handle: UInt64, _ body: (PluginManager) throws -> Result) throws -> Result {
        let found = state.withLock { state -> PluginManager? in
            guard case .manager(let manager) = state.entries[handle]?.object else { return nil }
            state.use(handle, 1)
            return manager
        }
        guard let found else { throw PluginFailure.badHandle("manager") }
        defer { state.withLock { $0.use(handle, -1) } }
        return try body(found)
    }

    /// Whether the calling thread is in a callback of a manager, or of one of its caches.
    func isCallingBack(_ handle: UInt64) -> Bool {
        let (manager, caches) = state.withLock { state in
            let caches = state.entries.values.compactMap { entry -> (any AnyPluginCache)? in
                guard case .cache(let cache, handle) = entry.object else { return nil }
                return cache
            }
            return (state.entries[handle]?.object.manager, caches)
        }
        return manager?.isTellingOnThisThread ?? false || caches.contains { $0.isCallingOnThisThread }
    }

    /// Takes a manager and its caches out.
    func removeManager(_ handle: UInt64) throws -> (PluginManager, [any AnyPluginCache]) {
        let taken = try state.withLock { state -> (PluginManager, [any AnyPluginCache]) in
            guard case .manager(let manager) = state.entries[handle]?.object else {
                throw PluginFailure.badHandle("manager")
            }
            guard state.entries[handle]?.uses == 0 else {
                throw PluginFailure.inUse("Values of it are pinned, or calls to it are under way. Release them first.")
            }
            let owned = state.entries.compactMap { key, entry -> (UInt64, any AnyPluginCache)? in
                guard case .cache(let cache, handle) = entry.object else { return nil }
                return (key, cache)
            }
            guard !manager.isTellingOnThisThread, !owned.contains(where: { $0.1.isCallingOnThisThread }) else {
                throw PluginFailure.inUse("This is a callback of the manager or of one of its caches.")
            }
            for (key, _) in owned { state.entries[key] = nil }
            state.entries[handle] = nil
            return (manager, owned.map(\.1))
        }
        return taken
    }

    // MARK: Caches

    func add(_ cache: any AnyPluginCache, to manager: UInt64) -> UInt64 {
        state.withLock { $0.add(.cache(cache, manager: manager)) }
    }

    /// Calls `body` with a cache, which cannot be removed meanwhile.
    func withAnyCache<Result>(_ handle: UInt64, _ body: (any AnyPluginCache) throws -> Result) throws -> Result {
        let found = use(cache: handle)
        guard let found else { throw PluginFailure.badHandle("cache") }
        defer { state.withLock { $0.use(handle, -1) } }
        return try body(found)
    }

    /// The same with a cache of one value; a keyed one is an error.
    func withCache<Result>(_ handle: UInt64, _ body: (PluginCache) throws -> Result) throws -> Result {
        try withAnyCache(handle) { try body(try Self.check($0)) }
    }

    /// The same with a keyed cache; another is an error.
    func withKeyedCache<Result>(_ handle: UInt64, _ body: (PluginKeyedCache) throws -> Result) throws -> Result {
        try withAnyCache(handle) { try body(try Self.check($0)) }
    }

    private static func check<Cache: AnyPluginCache>(_ cache: any AnyPluginCache) throws -> Cache {
        guard let cache = cache as? Cache else {
            throw PluginFailure(
                PRESSUREKIT_BAD_HANDLE,
                "\"\(cache.controller.identifier)\" is no \(Cache.kind): the calls for keyed caches take a key, the others none."
            )
        }
        return cache
    }

    func removeCache(_ handle: UInt64) throws -> any AnyPluginCache {
        try state.withLock { state in
            guard case .cache(let cache, _) = state.entries[handle]?.object else {
                throw PluginFailure.badHandle("cache")
            }
            guard state.entries[handle]?.uses == 0, !cache.isCallingOnThisThread else {
                throw PluginFailure.inUse("Its value is pinned, or calls to it are under way. Release it first.")
            }
            state.entries[handle] = nil
            return cache
        }
    }

    private func use(cache handle: UInt64) -> (any AnyPluginCache)? {
        state.withLock { state in
            guard case .cache(let cache, _) = state.entries[handle]?.object else { return nil }
            state.use(handle, 1)
            return cache
        }
    }

    // MARK: Pins

    /// Makes a pin of a cache, which is in use until the pin is removed.
    func addPin<Cache: AnyPluginCache>(
        of handle: UInt64,
        _ make: (Cache) throws -> PluginPin
    ) throws -> (UInt64, PluginPin) {
        guard let cache = use(cache: handle) else { throw PluginFailure.badHandle("cache") }
        do {
            let pin = try make(try Self.check(cache))
            return (state.withLock { $0.add(.pin(pin, cache: handle)) }, pin)
        } catch {
            state.withLock { $0.use(handle, -1) }
            throw error
        }
    }

    func removePin(_ handle: UInt64) throws {
        // Released with the registry unlocked: this may be the last that keeps the value.
        let pin = try state.withLock { state -> PluginPin in
            guard case .pin(let pin, let cache) = state.entries[handle]?.object else {
                throw PluginFailure.badHandle("pin")
            }
            state.entries[handle] = nil
            state.use(cache, -1)
            return pin
        }
        withExtendedLifetime(pin) {}
    }
}
