import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Synchronization

@testable import PressureKit

/// An app of the model: caches of every kind in two controllers, on a disk that fails now and then.
final class ModelWorld: Sendable {
    static let stateDirectory = "/var/tmp/state"

    let base = InMemoryFileSystem()
    let disk: FaultyFileSystem
    let clock = ManualClock()
    let manager: PressureManager
    let controllers: [PressureController]
    let worker: CleaningWorker
    let tracks: [Track]

    /// - Parameter variant: which compressed tier, codec and order of eviction.
    init(variant: Int) throws {
        disk = FaultyFileSystem(wrapping: base)
        let (disk, clock) = (disk, clock)
        manager = try makeManager(fileSystem: disk, workers: 2) { configuration in
            configuration.clock = clock
            configuration.copiesAhead = false
            configuration.compressesLater = variant % 2 == 0
            configuration.compressedTier =
                [.never, .first(upTo: .kibibytes(512)), .whenSpillingFails(upTo: .mebibytes(1))][variant % 3]
            configuration.evictionOrder = [.costAware, .leastRecentlyUsed][variant / 3 % 2]
            configuration.bypassesPageCache = variant % 4 == 1
        }
        let manager = manager
        controllers = try ["left", "right"].map { try addController($0, to: manager.root) }
        worker = CleaningWorker(
            engine: manager.context.engine,
            root: manager.root,
            rate: .gibibytes(1),
            isUnpressured: { !manager.isReclaiming },
            read: { BusyReading(time: $0) }
        )
        tracks = try Self.makeTracks(in: controllers)
    }

    private static func makeTracks(in controllers: [PressureController]) throws -> [Track] {
        var tracks: [Track] = []
        for number in 0..<6 {
            let track = Track(number, hasLoader: !number.isMultiple(of: 2))
            let controller = controllers[number / 3]
            let cache =
                track.hasLoader
                ? try controller.cache("value\(number)") { try track.load() }
                : try controller.cache("value\(number)", initialValue: track.first)
            track.connect(cache)
            tracks.append(track)
        }
        let byKey = Shared<[Int: Track]>([:])
        let kept = try controllers[0].keyedCache(
            "kept",
            key: Int.self,
            value: [UInt8].self,
            options: .init(limit: .kibibytes(40))
        )
        let made = try controllers[1].keyedCache("made", options: .init(countLimit: 3)) { (key: Int) in
            guard let track = byKey.value[key] else { throw Track.LoaderError() }
            return try track.load()
        }
        let pages = try controllers[1].keyedCache(
            "pages",
            key: Int.self,
            value: PageBuffer.self,
            options: .init(limit: .kibibytes(300))
        )
        for number in 6..<24 {
            let track = Track(number, hasLoader: number % 3 == 1)
            switch number % 3 {
            case 0:
                kept.set(track.first, for: number)
                track.connect(kept, number)
            case 1:
                byKey.change { $0[number] = track }
                track.connect(made, number)
            default:
                pages.set(PageBuffer(track.first), for: number)
                track.connect(pages, number)
            }
            tracks.append(track)
        }
        return tracks
    }

    var complaints: [String] { tracks.flatMap { $0.complaints.withLock { $0 } } }

    // MARK: Actors

    /// Another mood of the disk.
    func changeDisk(_ random: inout SeededGenerator) {
        let seed = random.next()
        let rules: [FaultyFileSystem.Rule?] = [
            nil, nil, nil,
            .init(.error(EIO), on: .write, .sometimes(seed: seed, oneIn: 5)),
            .init(.error(ENOSPC), on: .write, .sometimes(seed: seed, oneIn: 9)),
            .init(.error(EIO), .sometimes(seed: seed, oneIn: 7)),
            .init(.error(EIO), on: .read, .sometimes(seed: seed, oneIn: 4)),
            .init(.lyingWrite, on: .write, .sometimes(seed: seed, oneIn: 4)),
            .init(.lostWrite, on: .write, .sometimes(seed: seed, oneIn: 4)),
            .init(.wrongWrite, on: .write, .sometimes(seed: seed, oneIn: 4)),
            .init(.bitFlip, on: .read, .sometimes(seed: seed, oneIn: 4)),
            .init(.short, .sometimes(seed: seed, oneIn: 2)),
            .init(.error(ENOSPC), on: .write),
        ]
        disk.set(rules.randomElement(using: &random)!)
    }

    /// What the cleaner's thread does.
    func workAhead(_ random: inout SeededGenerator) {
        worker.wake()
        if Bool.random(using: &random) { clock.advance(by: .seconds(10)) }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard let pause = worker.step() ?? nil else { return }
            clock.advance(by: pause)
        }
    }

    /// A reclaim of some kind.
    func reclaim(_ random: inout SeededGenerator) async {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: _ = await manager.simulateMemoryWarning(.critical)
        case 1: _ = await manager.simulateMemoryWarning(.warning)
        case 2: _ = await controllers.randomElement(using: &random)!.attemptEviction()
        case 3:
            clock.advance(by: .seconds(61))
            _ = await manager.simulateMemoryWarning(.critical)
        default: _ = await manager.reclaim(.bytes(Int.random(in: 0..<400_000, using: &random)))
        }
    }

    /// Something about what the user sees.
    func changeScene(_ random: inout SeededGenerator) async {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: controllers.randomElement(using: &random)!.appear()
        case 1: controllers.randomElement(using: &random)!.disappear()
        case 2:
            _ = await manager.enterBackground()
            _ = await manager.enterForeground()
        case 3: _ = manager.snapshot()
        default: await save()
        }
    }

    private func save() async {
        let least = tracks.map(\.leastSaved)
        do throws(PressureError) {
            let report = try await manager.saveState(to: Self.stateDirectory)
            note(report, least)
        } catch {
            // The one that failed in its last step is the new one all the same.
            if error.message.contains("is the new one") { note(nil, least) }
        }
    }

    private func note(_ report: StateReport?, _ least: [Int]) {
        for (track, least) in zip(tracks, least) { track.saved.withLock { $0 = least...track.mostSaved } }
    }
}
