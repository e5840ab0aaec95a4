import PressureKit
import SampleContent

/// One cache of the scenario together with what its value must be.
///
/// Hides the type of the value, so that a scenario can mix them.
protocol SimulatedCache: Sendable {
    /// Where it is in the tree, such as `"gallery/originals-07"`.
    var path: String { get }
    var byteCount: Int { get }
    var hasLoader: Bool { get }
    var residency: Residency { get }
    /// How often the value was changed.
    var version: Int { get }
    /// What has left the memory of the library's cache so far: one value's, or all of a keyed cache's.
    var outflow: CacheOutflow { get }

    /// Reads the value, measures what it took until the value was there, and verifies every byte by its hash.
    func access(_ tally: inout AccessTally)

    /// Changes the value in place, by the next mutation. Verifies it first.
    func update(_ tally: inout AccessTally)

    /// Reads the value and compares it byte for byte with its source, made anew.
    func verify(_ tally: inout AccessTally)
}

/// A cache of values of one type.
final class HeldCache<Value: HeldBytes>: SimulatedCache {
    /// What the value may be.
    private struct Versions {
        /// The hash of each version, the newest last. It is here before the cache has the version.
        var hashes: [UInt64]
        /// The newest version that the cache is known to have: readers that begin now see it or a newer one.
        var published = 0

        var newest: Int { hashes.count - 1 }
    }

    private let versions: Lock<Versions>
    private let cache: any ValueHolder<Value>
    private let recipe: ValueRecipe
    /// Set until it was read for the first time.
    private let isNew = ActiveFlag()
    let path: String
    let hasLoader: Bool

    var byteCount: Int { recipe.byteCount }
    var residency: Residency { cache.residency }
    var version: Int { versions.withLock(\.published) }
    var outflow: CacheOutflow { cache.outflow }

    /// Registers the cache with a controller. Without a loader its value is made at once, or is there when the state of an
    /// earlier life has been restored.
    ///
    /// - Parameter saved: the version that life left the value in; `nil` in the first one.
    /// - Throws: what making the value throws.
    convenience init(
        _ name: String,
        at controller: PressureController,
        recipe: ValueRecipe,
        loader: SimulatedLoader?,
        saved: ((_ path: String) -> Int)? = nil
    ) throws {
        let version = saved?("\(controller.path)/\(name)") ?? 0
        // Once, before the library sees any of it: what is right is the source's word, not the cache's.
        let value = try Value.make(byteCount: recipe.byteCount) { try recipe.write(&$0, version: version) }
        let hash = value.read { XXHash64.hash($0) }
        let cache: LazyCache<Value>
        if let loader {
            cache = try controller.cache(name) {
                try loader.load(recipe.byteCount, cost: recipe.cost) {
                    try Value.make(byteCount: recipe.byteCount) { try recipe.write(&$0, version: 0) }
                }
            }
        } else if saved != nil {
            cache = try controller.cache(name, of: Value.self)
        } else {
            cache = try controller.cache(name, initialValue: value)
        }
        self.init(cache, path: cache.path, recipe: recipe, hasLoader: loader != nil, version: version, hash: hash)
    }

    /// A value that is held already, or will be loaded.
    ///
    /// - Parameters:
    ///   - version: how often it was changed in earlier lives.
    ///   - hash: that of the version.
    init(
        _ holder: any ValueHolder<Value>,
        path: String,
        recipe: ValueRecipe,
        hasLoader: Bool,
        version: Int,
        hash: UInt64
    ) {
        cache = holder
        self.path = path
        self.recipe = recipe
        self.hasLoader = hasLoader
        // Versions before that one are not looked at any more.
        versions = Lock(Versions(hashes: Array(repeating: hash, count: version + 1), published: version))
    }

    func access(_ tally: inout AccessTally) {
        let oldest = versions.withLock(\.published)
        let outcome = Self.outcome(of: cache.residency)
        let clock = recipe.pace.clock
        let start = clock.now()
        recipe.pace.access()
        do {
            try cache.withValue { value in
                let elapsed = clock.now() - start
                tally.record(outcome, nanoseconds: elapsed.nanoseconds, bytes: byteCount)
                // Whoever waits beside the first reader waits for the same loading.
                if outcome == .load, !isNew.isSet { tally.reloads.record(nanoseconds: elapsed.nanoseconds) }
                isNew.isSet = false
                check(value, notOlderThan: oldest, &tally)
            }
        } catch {
            note(error, &tally)
        }
    }

    func update(_ tally: inout AccessTally) {
        do {
            let version = try cache.update { value in
                // Writers take turns, so here the newest version is the one in the cache.
                let version = versions.withLock(\.newest)
                check(value, notOlderThan: version, &tally)
                value.write { recipe.mutate(&$0, to: version + 1) }
                let hash = value.read { XXHash64.hash($0) }
                versions.withLock { $0.hashes.append(hash) }
                return version + 1
            }
            versions.withLock { $0.published = max($0.published, version) }
        } catch {
            note(error, &tally)
        }
    }

    func verify(_ tally: inout AccessTally) {
        do {
            let version = versions.withLock(\.published)
            let expected = try Value.make(byteCount: byteCount) { try recipe.write(&$0, version: version) }
            try cache.withValue { value in
                tally.verified += 1
                // Somebody may be changing it at this moment; then the next verification has the last word.
                if value != expected, versions.withLock(\.newest) == version {
                    tally.losses.append(.init(path: path, reason: "its bytes differ from its source's"))
                }
            }
        } catch {
            note(error, &tally)
        }
    }

    /// Holds the value against the hashes it may have: a reader that came before a change may see the old value.
    private func check(_ value: Value, notOlderThan oldest: Int, _ tally: inout AccessTally) {
        let hash = value.read { XXHash64.hash($0) }
        let isRight = versions.withLock { $0.hashes[oldest...].contains(hash) }
        if !isRight { tally.losses.append(.init(path: path, reason: "its bytes are wrong")) }
    }

    private func note(_ error: any Error, _ tally: inout AccessTally) {
        switch error {
        case is SimulatedLoaderFailure: tally.loaderFailures += 1
        default:
            tally.fail(path, error)
            if !hasLoader { tally.losses.append(.init(path: path, reason: error.words)) }
        }
    }

    private static func outcome(of residency: Residency) -> AccessOutcome {
        switch residency {
        case .resident: .hit
        case .unloaded, .loading: .load
        case .compressed, .spilled, .restoring: .restore
        }
    }
}

/// How to make one value's bytes, and what accesses to it are timed by.
struct ValueRecipe: Sendable {
    var source: any ContentSource
    /// Which of the source's values.
    var index: Int
    var byteCount: Int
    /// What loading it costs; `nil` for what loading any of them does.
    var cost: Duration?
    /// The seed of its mutations.
    var seed: UInt64
    var pace: any Pace = RealPace()

    /// Writes the bytes of a version.
    func write(_ bytes: inout MutableRawSpan, version: Int) throws {
        try source.fill(&bytes, index: index)
        for next in stride(from: 1, through: version, by: 1) { mutate(&bytes, to: next) }
    }

    /// Turns the version before into `version`.
    func mutate(_ bytes: inout MutableRawSpan, to version: Int) {
        Mutation.apply(version: version, seed: seed &+ UInt64(index) &* 0x9E37_79B9_7F4A_7C15, to: &bytes)
    }
}
