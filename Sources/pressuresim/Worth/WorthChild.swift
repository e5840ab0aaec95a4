import CLinuxShims
import Foundation
import PressureKit
import Synchronization

/// Whose cache is read.
enum WorthContender: String, CaseIterable, Hashable, Sendable, Codable {
    case lru
    case kit = "pressurekit"
}

/// What a process in the cgroup is to do.
struct WorthJob: Hashable, Sendable, Codable {
    var contender: WorthContender
    /// Of the LRU.
    var bound: ByteCount
    var content: WorthContent
    /// Its part of the values.
    var firstKey: Int
    var count: Int
    /// How many of them are read once before the rest begins.
    var fillCount: Int
    var zipf: Double
    var readers: Int
    var seed: UInt64
    /// How its other memory goes up and down.
    var swing: WorthSwing?
    /// How long a reader rests after each read, in nanoseconds.
    var pause: Int64?
    /// How often a value is loaded for one load.
    var repeats = 1
    var source = WorthSource()

    /// Loads a value.
    func load(_ key: Int) throws -> [UInt8] {
        if source.loadNanoseconds > 0 { Pause.sleep(.nanoseconds(source.loadNanoseconds)) }
        for _ in 1..<repeats { _ = try content.load(key) }
        return try content.load(key)
    }
}

/// What a process in the cgroup tells the one that started it, a line of JSON each.
enum WorthNews: Hashable, Sendable, Codable {
    /// The cache has been filled: the next line of its input says what time counts.
    case ready
    /// So many reads by then.
    case reads(at: Int64, count: Int)
    /// All is done.
    case done(WorthFindings)
}

/// What a process found.
struct WorthFindings: Hashable, Sendable, Codable {
    /// How long reads took, and how often, in the time that counts.
    var latencies: [Latencies.Count] = []
    /// Loads that began in that time.
    var loads = 0
    var wrong = 0
    var failed = 0
    var complaints: [String] = []
    /// What the library did; nothing of the LRU.
    var library: WorthLibraryPart?

    init() {}

    init(_ tally: WorthLoad.Tally, loads: Int = 0, _ library: WorthLibraryPart? = nil) {
        latencies = tally.latencies.counts
        self.loads = loads
        wrong = tally.wrong
        failed = tally.failed
        complaints = tally.complaints
        self.library = library
    }
}

/// What the library said and did.
struct WorthLibraryPart: Hashable, Sendable, Codable {
    /// In the time that counts.
    var told = WorthTold()
    /// Before it.
    var toldBefore = WorthTold()
    /// Since the process began.
    var loads = 0
    var restores = 0
    var evictions = 0
    /// At the end.
    var residentBytes = 0
    /// What the limit was used for at the end; `nil` before the first sample, and where several processes share it.
    var use: WorthUse?
    var level = ""

    mutating func note(_ snapshot: PressureSnapshot) {
        let caches = snapshot.controllers.flatMap(\.caches)
        loads = caches.reduce(0) { $0 + $1.loads }
        restores = caches.reduce(0) { $0 + $1.restores }
        evictions = caches.reduce(0) { $0 + $1.evictions }
        residentBytes = snapshot.resident.bytes
        use = snapshot.use.map(WorthUse.init)
        level = "\(snapshot.level)"
    }

    static func += (left: inout WorthLibraryPart, right: WorthLibraryPart) {
        left.told += right.told
        left.toldBefore += right.toldBefore
        left.loads += right.loads
        left.restores += right.restores
        left.evictions += right.evictions
        left.residentBytes += right.residentBytes
        left.use = nil
        // Of several processes the one that is worse off.
        if ["normal", "warning", "critical"].firstIndex(of: left.level) ?? -1
            < ["normal", "warning", "critical"].firstIndex(of: right.level) ?? -1
        {
            left.level = right.level
        }
    }
}

/// What a limit was used for, in bytes.
struct WorthUse: Hashable, Sendable, Codable {
    var values: Int
    var copies: Int
    /// Free in the process's heap.
    var heap: Int
    /// Other memory of the process.
    var process: Int
    var others: Int
    /// Page cache that goes when memory is short.
    var pageCache: Int
    var free: Int

    /// Each part and what it is called.
    var parts: [(name: String, byteCount: Int)] {
        [
            ("values", values), ("copies", copies), ("free heap", heap), ("other memory of the process", process),
            ("others", others), ("page cache", pageCache), ("free", free),
        ]
    }
}

extension WorthUse {
    init(_ use: PressureSnapshot.Use) {
        self.init(
            values: use.values.bytes,
            copies: use.copies.bytes,
            heap: use.heap.bytes,
            process: use.process.bytes,
            others: use.others.bytes,
            pageCache: use.pageCache.bytes,
            free: use.free.bytes
        )
    }
}

/// What an app would have heard.
struct WorthTold: Hashable, Sendable, Codable {
    var warnings = 0
    var criticals = 0
    /// Calls of a controller's delegate.
    var hooks = 0

    static func += (left: inout WorthTold, right: WorthTold) {
        left.warnings += right.warnings
        left.criticals += right.criticals
        left.hooks += right.hooks
    }
}

/// The process that runs in the cgroup.
struct WorthChild: Sendable {
    var job: WorthJob

    /// Does the work. Suspends until it is done, if the kernel lets it.
    ///
    /// - Throws: what keeps it from beginning.
    func run() async throws {
        let job = job
        let (loads, clock) = (WorthLoads(), SystemClock())
        let load: @Sendable (Int) throws -> [UInt8] = { key in
            loads.note(at: clock.now())
            return try job.load(key)
        }
        switch job.contender {
        case .lru:
            try await work(WorthLRU(bound: job.bound, load: load), loads) { _ in nil }
        case .kit:
            let manager = try PressureManager(configuration: job.source.configuration)
            let ear = WorthEar()
            // A controller without caches: it hears what is told to all, and no load has to look for it.
            let listener = PressureController("listener")
            listener.delegate = ear
            try manager.root.addChild(listener)
            let store = try WorthKit(manager.root, load: load)
            let events = manager.events
            let watcher = Task { for await event in events { ear.note(event) } }
            let monitor = Task { try await manager.run() }
            try await work(store, loads) { window in
                if let window { ear.begin(window) }
                var part = ear.part
                part.note(manager.snapshot())
                return part
            }
            monitor.cancel()
            await manager.shutdown()
            await watcher.value
        }
    }

    /// - Parameter library: what the library did; told the time that counts once it is known.
    private func work(
        _ store: any WorthStore,
        _ loads: WorthLoads,
        _ library: @escaping @Sendable (WorthWindow?) -> WorthLibraryPart?
    ) async throws {
        let load = WorthLoad(job, store)
        let job = job
        try await Blocking.run("worth") {
            try load.fill()
            Self.tell(.ready)
            guard let line = readLine(), let window = try? JSONDecoder().decode(WorthWindow.self, from: Data(line.utf8))
            else {
                // Whoever started it is gone.
                exit(ExitStatus.environmentRefused.rawValue)
            }
            _ = library(window)
            loads.begin(window)
            let swinger = try job.swing.map(WorthSwinger.init)
            let isReading = Flag()
            try WorkerThread.spawn("teller") {
                let clock = SystemClock()
                while isReading.isSet {
                    Self.tell(.reads(at: clock.now().nanoseconds, count: load.reads))
                    Pause.sleep(.milliseconds(100))
                }
            }
            try load.read(window)
            isReading.clear()
            swinger?.end()
            let part = library(nil)
            // A report of some thousand numbers takes memory that no program without a reader of it would need. What values
            // leave is in the heaps of those who loaded them.
            store.removeAll()
            _ = pk_malloc_trim()
            Self.tell(.done(WorthFindings(load.tally, loads: loads.count, part)))
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic<Bool>(true)

        var isSet: Bool { value.load(ordering: .relaxed) }

        func clear() { value.store(false, ordering: .relaxed) }
    }

    /// One line at a time, from whatever thread.
    private static let output = Lock(())

    private static func tell(_ news: WorthNews) {
        guard let line = try? JSONEncoder().encode(news) else { return }
        output.withLock { _ in
            do {
                try FileHandle.standardOutput.write(contentsOf: line + Data("\n".utf8))
            } catch {
                // Nobody listens any more: then nobody wants to know either.
                exit(ExitStatus.environmentRefused.rawValue)
            }
        }
    }
}

/// Hears what an app would hear, and counts it.
private final class WorthEar: PressureControllerDelegate, Sendable {
    private struct State {
        var window: WorthWindow?
        var part = WorthLibraryPart()
    }

    private let state = Lock(State())
    private let clock = SystemClock()

    var part: WorthLibraryPart { state.withLock { $0.part } }

    func begin(_ window: WorthWindow) { state.withLock { $0.window = window } }

    private func count(_ key: any WritableKeyPath<WorthTold, Int> & Sendable) {
        let now = clock.now()
        state.withLock { state in
            if state.window?.contains(now) ?? false {
                state.part.told[keyPath: key] += 1
            } else {
                state.part.toldBefore[keyPath: key] += 1
            }
        }
    }

    func note(_ event: PressureEvent) {
        guard case .memoryWarning(let warning) = event else { return }
        count(warning.level == .critical ? \.criticals : \.warnings)
    }

    func didReceiveMemoryWarning(_ warning: MemoryWarning) { count(\.hooks) }
    func evictionWillBegin(_ cause: PressureCause) { count(\.hooks) }
    func evictionDidEnd(_ report: EvictionReport) { count(\.hooks) }
    func levelDidChange(_ cause: PressureCause) { count(\.hooks) }
}
