import Foundation
import Glibc
import PressureKit
import ReportPages

/// What a process in the cgroup tells the one that started it, a line of JSON each, the last one at its end.
struct SurvivalNews: Hashable, Sendable, Codable {
    /// Since the loading began.
    var seconds: Double
    var tally: SurvivalLoad.Tally
    /// What the library did; nothing without it.
    var library: SurvivalLibraryPart?
    /// Whether all is done.
    var isFinal = false
}

/// What the library did in a run.
struct SurvivalLibraryPart: Hashable, Sendable, Codable {
    var reclaims = 0
    var longestReclaimSeconds = 0.0
    /// Batches of the background reclaim.
    var batches = 0
    var evictions = 0
    var restores = 0
    var loads = 0
    /// Bytes of its copies in the spill file, at the end.
    var storedBytes = 0
    /// The cause of the first reclaim.
    var firstCause: String?
    /// How many failures to spill it reported.
    var spillFailures = 0
    /// What failed on the way, the first few.
    var failures: [String] = []
}

/// The process that runs in the cgroup.
struct SurvivalChild: Sendable {
    var plan: SurvivalPlan
    var mode: SurvivalMode
    /// Whether to tell on standard error what the library does, as it does it.
    var trace = false

    /// Moves this process into the cgroup and does the work. Suspends until it is done, if the kernel lets it.
    func run(in group: MemoryGroup) async throws {
        try group.add(process: getpid())
        switch mode {
        case .without:
            let values = SurvivalValues(plan: plan)
            let load = SurvivalLoad(plan: plan, store: PlainStore(), values: values)
            try await work(load) { nil }
        case .with: try await runWithLibrary(group)
        }
    }

    private func runWithLibrary(_ group: MemoryGroup) async throws {
        var configuration = PressureConfiguration()
        configuration.spillDirectory = plan.spillDirectory
        configuration.bypassesPageCache = !plan.usesPageCache
        #if Redis
        configuration.remote = plan.remote?.remote()
        configuration.remote?.replacesDisk = true
        #endif
        configuration.sources = [.automatic]
        let manager = try PressureManager(configuration: configuration)
        let controller = PressureController("survival")
        try manager.root.addChild(controller)
        let values = SurvivalValues(plan: plan)
        let store = try KitStore(controller) { values.make($0) }
        let library = Lock(SurvivalLibraryPart())
        let events = manager.events
        let trace = trace
        let start = SystemClock().now()
        let watcher = Task {
            for await event in events {
                library.withLock { $0.note(event) }
                if trace { Self.trace(event, after: SystemClock().now() - start) }
            }
        }
        let monitor = Task { try await manager.run() }
        try await work(SurvivalLoad(plan: plan, store: store, values: values)) {
            let snapshot = manager.snapshot()
            return library.withLock { part in
                part.note(snapshot)
                return part
            }
        }
        monitor.cancel()
        await manager.shutdown()
        await watcher.value
    }

    private func work(_ load: SurvivalLoad, _ library: @escaping @Sendable () -> SurvivalLibraryPart?) async throws {
        let clock = SystemClock()
        let start = clock.now()
        // Told often enough to know where the process was when the kernel ended it.
        let interval = max(plan.count / 256, 1)
        try await Blocking.run("survival") {
            try load.run { loaded in
                guard loaded % interval == 0 else { return }
                Self.tell(SurvivalNews(seconds: (clock.now() - start).seconds, tally: load.tally))
            }
        }
        let seconds = (clock.now() - start).seconds
        Self.tell(SurvivalNews(seconds: seconds, tally: load.tally, library: library(), isFinal: true))
    }

    private static func trace(_ event: PressureEvent, after time: Duration) {
        let what =
            switch event {
            case .levelChanged(let cause): "\(cause)"
            case .memoryWarning(let warning): "\(warning.level), \(warning.bytesWanted.map { "\($0)" } ?? "all") wanted"
            case .reclaimFinished(let report): "\(report); \(report.phases)"
            case .restoreFinished: "restored"
            case .failure(let error): error.lineForTool
            }
        let line = "\(Quantities.fixed(time.seconds * 1000, 1)) ms  \(what)\n"
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }

    private static func tell(_ news: SurvivalNews) {
        guard let line = try? JSONEncoder().encode(news) else { return }
        do {
            try FileHandle.standardOutput.write(contentsOf: line + Data("\n".utf8))
        } catch {
            // Nobody listens any more: then nobody wants to know either.
            exit(ExitStatus.environmentRefused.rawValue)
        }
    }
}

extension SurvivalLibraryPart {
    mutating func note(_ event: PressureEvent) {
        switch event {
        case .reclaimFinished(let report):
            reclaims += 1
            longestReclaimSeconds = max(longestReclaimSeconds, report.duration.seconds)
            firstCause = firstCause ?? "\(report.cause)"
            for failure in report.failures { note(failure) }
        case .failure(let error): note(error)
        default: break
        }
    }

    private mutating func note(_ failure: PressureError) {
        if failure.code == .spillFailed || failure.code == .diskFull { spillFailures += 1 }
        let text = failure.lineForTool
        if failures.count < 5, !failures.contains(text) { failures.append(text) }
    }

    mutating func note(_ snapshot: PressureSnapshot) {
        let caches = snapshot.controllers.flatMap(\.caches)
        evictions = caches.reduce(0) { $0 + $1.evictions }
        restores = caches.reduce(0) { $0 + $1.restores }
        loads = caches.reduce(0) { $0 + $1.loads }
        batches = snapshot.admission.batches
        storedBytes = snapshot.stored.bytes
    }
}
