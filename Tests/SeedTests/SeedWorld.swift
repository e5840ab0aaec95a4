import CAllocationCounter
import Glibc
import PressureKitTestSupport
import PressureSignals
import Synchronization

@testable import PressureKit
@testable import PressureKitTesting

/// What the run of a seed is played in: one or two managers below one limit, on disks and by a clock that are the test's
/// own; and what everything in it has to be. One thread plays; hooks come on others while that one waits for them.
final class SeedWorld: @unchecked Sendable {
    // Sendable: whoever else looks at it does so while the thread that plays waits.

    /// One process: a manager with its tree.
    final class Home {
        let number: Int
        let base: InMemoryFileSystem
        let disk: SeedDisk
        var live = LiveBytes()
        var manager: PressureManager
        /// What was decided last, and how many reclaims there were.
        var level = PressureLevel.normal
        var reclaims = 0
        /// The newest warning cause, for the promise that each says why.
        var cause: PressureCause?
        var decisions: [PressureDecision] = []
        /// The rule that the disk has, when it was last sound, and whether it was given one that saves cannot bear.
        var rule: FaultyFileSystem.Rule?
        var soundSince: MonotonicInstant?
        var leftAloneUntil: MonotonicInstant?
        /// Whether the disk has less room than usual, has ever failed, and has a saved state.
        var isSmall = false
        var wasSpoilt = false
        var isSaved = false

        /// Whether reading may fail.
        var isUnreadable: Bool {
            guard let rule else { return false }
            switch rule.fault {
            case .error: return rule.operation == nil || rule.operation == .read
            case .bitFlip: return true
            default: return false
            }
        }

        /// Whether every write fails.
        var isUnwritable: Bool {
            guard let rule, case .error = rule.fault, rule.occurrence == .from(1) else { return false }
            return rule.operation == nil || rule.operation == .write
        }

        init(_ number: Int, base: InMemoryFileSystem, disk: SeedDisk, manager: PressureManager) {
            (self.number, self.base, self.disk, self.manager) = (number, base, disk, manager)
        }
    }

    /// A lease that somebody keeps, and whether the value was replaced since.
    struct Hold {
        let entry: Int
        let hold: SeedHold
        var isDetached = false
    }

    /// A controller.
    struct Node {
        let home: Int
        let controller: PressureController
        let delegate: SeedDelegate
        /// By number; `nil` for the root.
        var parent: Int?
    }

    let setting: SeedSetting
    let clock = ManualClock()
    let memory: SeedMemory
    var homes: [Home] = []
    var nodes: [Node] = []
    var caches: [SeedCache] = []
    var entries: [SeedEntry] = []
    var holds: [Hold] = []
    /// Loads that wait at their gates.
    var loads: [SeedLoad] = []
    var version = 0
    /// Calls that hooks and loaders have made.
    var calls = 0
    /// How long loaders take, in milliseconds, and what they call; how deep in such calls we are.
    var loaderDelay = 0
    var loaderCallsBack: Int?
    var depth = 0
    /// What is being worked on, which hooks and loaders leave alone.
    var busy: Set<Int> = []
    var step = 0
    var complaints: [SeedComplaint] = []
    var log: [String] = []
    /// Of all that was noted: FNV-1a.
    private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    var counts = SeedCounts()
    /// What the mistake is that is made on purpose, if any.
    let mistake: SeedMistake?
    /// What that has kept.
    var leaked: SeedBlock?

    init(_ setting: SeedSetting, mistake: SeedMistake? = nil) throws {
        (self.setting, self.mistake) = (setting, mistake)
        memory = SeedMemory(limit: setting.limit << 10)
        // Ages count from here, whatever was played before.
        UseClock.counter.store(1, ordering: .relaxed)
        for number in 0..<max(1, min(2, setting.managers)) {
            let base = InMemoryFileSystem(capacity: .mebibytes(64))
            base.setSupportsNameless(setting.nameless != 0)
            base.setDirectSupport([.whole, .openOnly, .none, .whole][setting.direct & 3])
            let disk = SeedDisk(base)
            let manager = try makeManager(number, disk)
            homes.append(Home(number, base: base, disk: disk, manager: manager))
            adopt(homes[number])
        }
    }

    /// The manager's counters begin anew.
    func adopt(_ home: Home) {
        LiveBytes.counters.withLock { $0[Int32(home.number)] = home.live }
        memory.lives.withLock { $0[home.number] = home.live }
        (home.level, home.reclaims) = (.normal, 0)
    }

    static func giveWay() { sched_yield() }

    func note(_ line: String) {
        for byte in line.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        log.append(line)
    }

    func complain(_ promise: SeedPromise, _ text: @autoclosure () -> String) {
        // One is enough; those that follow from it would be too many.
        if complaints.count < 8 { complaints.append(SeedComplaint(promise: promise, step: step, text: text())) }
    }

    // MARK: Making managers

    func makeManager(_ number: Int, _ disk: SeedDisk) throws -> PressureManager {
        if setting.memory != 0 {
            do {
                _ = try PressureManager(configuration: configuration(number, disk, allowsMemory: false))
                complain(.p9, "a spill directory in memory was not refused")
            } catch  where error.code == .spillDirectoryInMemory {
                // As it should be.
            }
        }
        return try PressureManager(configuration: configuration(number, disk, allowsMemory: setting.memory != 0))
    }

    private func configuration(_ number: Int, _ disk: SeedDisk, allowsMemory: Bool) -> PressureConfiguration {
        var configuration = PressureConfiguration.testing(clock: clock, sources: [memory.pressureSource])
        configuration.fileSystem = disk
        configuration.spillDirectory = setting.memory != 0 ? "/dev/shm" : "/var/tmp"
        configuration.allowsMemoryBackedSpill = allowsMemory
        configuration.compressedTier =
            [.never, .first(upTo: .kibibytes(256)), .whenSpillingFails(upTo: .kibibytes(256))][setting.tier % 3]
        configuration.evictionOrder = [.costAware, .leastRecentlyUsed, .sieve, .largestFirst][setting.order & 3]
        configuration.compressesLater = setting.later != 0
        configuration.copiesAhead = setting.ahead != 0
        configuration.bypassesPageCache = setting.direct == 3
        #if Encryption
        configuration.encryptsSpills = false  // swift-crypto's buffers are allocated
        #endif
        let server = SeedDisk(InMemoryFileSystem(capacity: .mebibytes(64)), server: "a server")
        // In place of a directory that is refused it would take all.
        if setting.server != 0, allowsMemory || setting.memory == 0 {
            configuration.spillLimit = .kibibytes(512)
            configuration.behindDisk = RemoteOptions(fileSystem: server, path: "/var/tmp")
        }
        // No machine's own limits.
        configuration.limits.root = "/nonexistent"
        let memory = memory
        configuration.residentBytes = { memory.held(number) }
        if pk_allocations_are_counted() {
            // Without those of the disk, which is a dictionary of arrays here.
            configuration.allocationProbe = { Int(pk_thread_allocations()) - disk.allocations - server.allocations }
        }
        configuration.observer.decided = { [weak self] in self?.decided($0, number) }
        return configuration
    }

    private func decided(_ decision: PressureDecision, _ number: Int) {
        guard number < homes.count else { return }
        homes[number].decisions.append(decision)
    }

    /// Everything ends: nothing is to stay behind.
    func close() {
        for load in loads { load.end() }
        loads = []
        holds = []
        for home in homes { home.manager.shutdownAndWait() }
        nodes = []
        caches = []
    }
}

/// What one limit is used for: by the values of all managers and by others.
final class SeedMemory: Sendable {
    let limit: Atomic<Int>
    let others = Atomic<Int>(0)
    let lives = Lock<[Int: LiveBytes]>([:])

    init(limit: Int) { self.limit = Atomic(limit) }

    /// The memory of one process: its values, to the byte.
    func held(_ number: Int) -> Int { lives.withLock { $0[number]?.bytes ?? 0 } }

    var available: Int {
        let held = lives.withLock { lives in (lives[0]?.bytes ?? 0) + (lives[1]?.bytes ?? 0) }
        let rest = limit.load(ordering: .relaxed) - others.load(ordering: .relaxed) - held
        return max(0, rest)
    }

    static let name = "seed memory"

    var pressureSource: PressureSource {
        PressureSource(name: Self.name) { () throws(PressureError) in Source(memory: self) }
    }

    private final class Source: SignalSource {
        let memory: SeedMemory
        init(memory: SeedMemory) { self.memory = memory }
        var name: String { SeedMemory.name }

        func sample(at now: MonotonicInstant) -> SignalReading? {
            let limit = ByteCount(bytes: memory.limit.load(ordering: .relaxed))
            guard let headroom = Headroom(available: ByteCount(bytes: memory.available), limit: limit) else {
                return nil
            }
            return SignalReading(
                origin: .cgroup,
                source: SeedMemory.name,
                measure: .headroom(headroom),
                takenAt: now
            )
        }
    }
}

/// A value of the run, and what it has to be.
struct SeedEntry {
    let cache: Int
    let key: Int
    let home: Int
    /// The version that the app set: there is exactly that.
    var exact: Int64?
    /// Versions that the loader has made and that may be there.
    var loaded: Set<Int64> = []
    /// What the loader makes now.
    var source: Int64 = 0
    /// How often it fails before it does.
    var failures = 0
    var lie = SeedLie.none
    /// What the last state that was saved has of it.
    var saved: Saved?

    struct Saved {
        var path: String
        var exact: Int64?
        var loaded: Set<Int64>
        var lie: SeedLie
        /// Whether nothing can have kept it out of the state.
        var isCertain: Bool
    }
}

/// A load that goes on while other things happen.
struct SeedLoad: Sendable {
    let entry: Int
    let gate: Gate
    let result: ConditionLock<Result<SeedBlock, any Error>?>

    func end() {
        gate.open()
        _ = result.wait { $0 }
    }
}

/// The promises, and what goes without saying.
enum SeedPromise: String, Sendable, CaseIterable {
    case p1 = "P1"
    case p2 = "P2"
    case p3 = "P3"
    case p4 = "P4"
    case p5 = "P5"
    case p6 = "P6"
    case p7 = "P7"
    case p8 = "P8"
    case p9 = "P9"
    case p10 = "P10"
    case p11 = "P11"
    case p12 = "P12"
    /// What is said to be free is.
    case free = "free"
    /// Something else that must not be.
    case other = "other"
}

struct SeedComplaint: Sendable, CustomStringConvertible {
    var promise: SeedPromise
    var step: Int
    var text: String
    var description: String { "step \(step): \(promise.rawValue): \(text)" }
}

/// What runs have come to, so that nobody believes in a run in which nothing happens.
struct SeedCounts: Sendable {
    var steps = 0, evicted = 0, spilled = 0, dropped = 0, compressed = 0, reused = 0, failed = 0, reclaims = 0
    var reads = 0, errors = 0, faults = 0, saves = 0, restores = 0, kills = 0, hooks = 0, warnings = 0
    /// Copies that a check has found on a server.
    var onServer = 0

    static func += (left: inout Self, right: Self) {
        left.steps += right.steps
        left.evicted += right.evicted
        left.spilled += right.spilled
        left.dropped += right.dropped
        left.compressed += right.compressed
        left.reused += right.reused
        left.failed += right.failed
        left.reclaims += right.reclaims
        left.reads += right.reads
        left.errors += right.errors
        left.faults += right.faults
        left.saves += right.saves
        left.restores += right.restores
        left.kills += right.kills
        left.hooks += right.hooks
        left.warnings += right.warnings
        left.onServer += right.onServer
    }
}
