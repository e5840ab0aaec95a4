import CAllocationCounter
import Foundation
import Glibc
import PressureKit

/// What the process in the cgroup tells the one that started it, a line of JSON for each window, the last one at its end.
struct SoakNews: Hashable, Sendable, Codable {
    /// How long restores took in this window.
    struct Restores: Hashable, Sendable, Codable {
        var count = 0
        var median: Double?
        var high: Double?
        var longest: Double?

        init(_ latencies: Latencies = Latencies()) {
            count = latencies.count
            median = latencies.percentile(50)
            high = latencies.percentile(99)
            longest = latencies.percentile(100)
        }
    }

    /// Since the reading began.
    var seconds: Double
    var tally: SoakLoad.Tally
    var restores = Restores()
    /// Stays in the background.
    var scenes = 0
    /// States that were saved.
    var saves = 0
    /// Bytes of the C heap that are in use; values are not among them.
    var heapBytes = Int(pk_heap_in_use())
    /// What the library did, at the end.
    var library: SurvivalLibraryPart?
    /// Whether all is done.
    var isFinal = false
}

/// The process in the cgroup.
struct SoakChild: Sendable {
    var plan: SoakPlan

    /// Moves this process into the cgroup and does the work. Suspends until it is done, if the kernel lets it.
    func run(in group: MemoryGroup) async throws {
        try group.add(process: getpid())
        var configuration = PressureConfiguration()
        configuration.spillDirectory = plan.directory
        configuration.bypassesPageCache = true
        configuration.sources = [.automatic]
        let manager = try PressureManager(configuration: configuration)
        let controller = PressureController("soak")
        try manager.root.addChild(controller)
        let load = try SoakLoad(plan, controller)
        let library = Lock(SurvivalLibraryPart())
        let events = manager.events
        let watcher = Task { for await event in events { library.withLock { $0.note(event) } } }
        let monitor = Task { try await manager.run() }
        try await Blocking.run("fill") { load.fill() }

        let clock = SystemClock()
        let start = clock.now()
        let end = start + .seconds(plan.seconds)
        let sides = SoakSides(plan: plan, load: load, start: start, end: end)
        // One after the other, as an app does it: nobody saves a state that is just being taken apart.
        let scenes = Task { try await sides.play(manager, controller) }
        let teller = Task { await sides.tellWindows() }
        try await Blocking.run("soak") { try load.run(until: end) }
        try await scenes.value
        await teller.value
        try await Blocking.run("end") { load.readAll() }
        let snapshot = manager.snapshot()
        monitor.cancel()
        await manager.shutdown()
        await watcher.value
        var news = sides.news(at: clock.now())
        news.library = library.withLock { part in
            part.note(snapshot)
            return part
        }
        news.isFinal = true
        SoakSides.tell(news)
    }
}
