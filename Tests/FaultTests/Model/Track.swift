import PressureKitTestSupport
import PressureKitTesting
import Synchronization

@testable import PressureKit

/// One value of the model: its versions, which one writer makes one after the other, and what a reader may see.
///
/// A reader must see a version that lies between the last one finished before it began and the last one begun before it
/// ended. That is more than monotonic: a value that was written is never missed, whatever was evicted in between.
final class Track: Sendable {
    struct LoaderError: Error {}

    /// How the cache behind it is used. None of them may be called with the model locked.
    struct Verbs: Sendable {
        var read: @Sendable (([UInt8]) -> Void) throws -> Void
        var readIfLoaded: @Sendable (([UInt8]) -> Void) -> Void
        var lease: @Sendable (_ body: @escaping @Sendable ([UInt8]) async -> [UInt8]) async throws -> Void
        var set: @Sendable ([UInt8]) throws -> Void
        var update: @Sendable (@escaping ([UInt8]) -> [UInt8]) throws -> Void
        var invalidate: @Sendable () throws -> Void
    }

    let number: Int
    let hasLoader: Bool
    let complaints = Lock<[String]>([])
    private let verbs: Lock<Verbs?> = Lock(nil)
    private let begun = Atomic<Int>(0)
    private let published = Atomic<Int>(0)
    /// What the loader makes: a version, and every so many calls an error.
    private let source = Atomic<Int>(0)
    private let loads = Atomic<Int>(0)
    /// Versions in which there is no value.
    private let gone = Lock<Set<Int>>([])
    /// What a saved state may have, from the last one that was saved.
    let saved = Lock<ClosedRange<Int>?>(nil)

    init(_ number: Int, hasLoader: Bool) {
        (self.number, self.hasLoader) = (number, hasLoader)
    }

    func connect(_ verbs: Verbs) { self.verbs.withLock { $0 = verbs } }

    /// Lets the cache go, whose loader keeps the track.
    func disconnect() { verbs.withLock { $0 = nil } }

    private var cache: Verbs { verbs.withLock { $0! } }

    // MARK: Values

    /// The value of a version: its number and the track's, then bytes that both decide. Sizes from nothing to several
    /// chunks, most of them small.
    func value(_ version: Int) -> [UInt8] {
        let sizes = [16, 40, 700, 2000, 90, 9000, 300, 17_000, 16, 400, 70_000, 120, 1000, 270_000, 33, 5000]
        let count = sizes[(version &* 7 + number) % sizes.count]
        let pattern = UInt8(truncatingIfNeeded: version &* 31 + number &* 7)
        var bytes = [UInt8](repeating: pattern, count: count)
        for (offset, number) in [version, number].enumerated() {
            for byte in 0..<8 { bytes[offset * 8 + byte] = UInt8(truncatingIfNeeded: number >> (8 * byte)) }
        }
        // Some do not compress.
        if version % 3 == 0, count < 3000 {
            var random = SeededGenerator(seed: UInt64(version) << 8 | UInt64(number))
            for index in 16..<max(16, count) { bytes[index] = UInt8.random(in: 0...255, using: &random) }
        }
        return bytes
    }

    private func version(of bytes: [UInt8]) -> Int? {
        guard bytes.count >= 16 else { return nil }
        var version = 0
        for byte in 0..<8 { version |= Int(bytes[byte]) << (8 * byte) }
        guard version >= 0, version <= begun.load(ordering: .sequentiallyConsistent) else { return nil }
        return isSame(bytes, value(version)) ? version : nil
    }

    /// What the loader makes now.
    func load() throws -> [UInt8] {
        let version = source.load(ordering: .sequentiallyConsistent)
        if loads.wrappingAdd(1, ordering: .relaxed).newValue.isMultiple(of: 9) { throw LoaderError() }
        return value(version)
    }

    /// The value it begins with.
    var first: [UInt8] { value(0) }

    // MARK: Checking

    func complain(_ text: String) { complaints.withLock { $0.append("value \(number): \(text)") } }

    /// What a reader that begins now must see at least.
    private var least: Int { published.load(ordering: .sequentiallyConsistent) }

    private func check(_ bytes: [UInt8], from least: Int) {
        let most = begun.load(ordering: .sequentiallyConsistent)
        guard let version = version(of: bytes) else {
            return complain("wrong bytes, \(bytes.count) of them, beginning \(bytes.prefix(16))")
        }
        if version < least || version > most { complain("read \(version), which is not in \(least)...\(most)") }
        if gone.withLock({ $0.contains(version) }) { complain("read \(version), which is no value") }
    }

    /// Errors that this test's faults explain.
    private func excuse(_ error: any Error, from least: Int, diskIsSound: Bool = false) {
        if error is LoaderError, hasLoader { return }
        let most = begun.load(ordering: .sequentiallyConsistent)
        switch (error as? PressureError)?.code {
        case .restoreFailed?, .damagedCopy?:
            if !diskIsSound { return }
        case .noValue?:
            if !hasLoader, gone.withLock({ gone in (least...most).contains { gone.contains($0) } }) { return }
        default: break
        }
        complain("\(error)")
    }

    // MARK: Readers

    func read(diskIsSound: Bool = false) {
        let least = least
        // A loader fails every ninth time.
        for attempt in 0..<2 {
            do {
                try cache.read { check($0, from: least) }
                return
            } catch {
                if diskIsSound, attempt == 0, error is LoaderError { continue }
                excuse(error, from: least, diskIsSound: diskIsSound)
                return
            }
        }
    }

    func readIfLoaded() {
        let least = least
        cache.readIfLoaded { check($0, from: least) }
    }

    func readWithLease() async {
        let least = least
        do {
            try await cache.lease { before in
                self.check(before, from: least)
                await Task.yield()
                return before
            }
        } catch {
            excuse(error, from: least)
        }
    }

    // MARK: The writer

    /// Makes the next version, in one way or another. One thread at a time.
    func write(_ random: inout SeededGenerator) {
        let next = begun.load(ordering: .sequentiallyConsistent) + 1
        let least = least
        do {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                begun.store(next, ordering: .sequentiallyConsistent)
                try cache.set(value(next))
            case 3 where hasLoader:
                begun.store(next, ordering: .sequentiallyConsistent)
                source.store(next, ordering: .sequentiallyConsistent)
                try cache.invalidate()
            case 3:
                gone.withLock { _ = $0.insert(next) }
                begun.store(next, ordering: .sequentiallyConsistent)
                try cache.invalidate()
            default:
                begun.store(next, ordering: .sequentiallyConsistent)
                let value = value(next)
                try cache.update { [self] before in
                    check(before, from: least)
                    return value
                }
            }
            published.store(next, ordering: .sequentiallyConsistent)
        } catch {
            // It did not happen: what was there before is there still, and the next version counts from here.
            excuse(error, from: least)
        }
    }

    // MARK: Saved states

    /// The last version that a state which is begun now must have.
    var leastSaved: Int { least }

    /// The last version that a state which was just saved may have.
    var mostSaved: Int { begun.load(ordering: .sequentiallyConsistent) }

    /// Whether a value that was restored is one that the last state may have.
    func checkSaved(_ bytes: [UInt8]) {
        guard let range = saved.withLock({ $0 }) else { return complain("was restored, but never saved") }
        guard let version = version(of: bytes) else { return complain("restored with wrong bytes") }
        if !range.contains(version) { complain("restored \(version), which is not in \(range)") }
    }

    func forget() { try? cache.invalidate() }
}
