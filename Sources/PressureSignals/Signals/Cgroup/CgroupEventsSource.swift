import Glibc
package import PressureSystem

/// How often the process's cgroups (version 2) have met their limits: `memory.events`, which the kernel notifies of, and which
/// every process may read, in containers too.
///
/// Where the kernel has it (5.2), `memory.events.local` is read instead: it counts a cgroup's own limits only, not those
/// of all cgroups below, which would be strangers' business.
package final class CgroupEventsSource: SignalSource {
    /// A cgroup that is pinned at its limit notifies with each reclaim. After a notification it is not listened to for this long (Bun
    /// holds back as long); its counters are read all the same.
    private static let pause = Duration.seconds(2)

    private struct Level {
        let path: String
        let file: ProcFile
        let isLocal: Bool
        let isOwn: Bool
        /// A second descriptor would not be notified: what re-arms is reading the very one that is watched.
        var isWatched = false
        var refusal: CInt?
        var hasFired = false
        var rangAt: MonotonicInstant?
        var last: EventCounters?
        var isVerified = false
    }

    private struct State {
        var locator: CgroupLocator
        var levels: [Level?] = Array(repeating: nil, count: CgroupLayout.deepest)
        var loop: EventLoop?
        var isLost = false
    }

    package let name = "memory.events"
    package var width: Int { CgroupLayout.deepest }

    private let context: SignalContext
    private let state: Lock<State>

    /// Finds the process's cgroups and opens their counters.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when no cgroup of version 2 with a memory controller can
    ///   be seen.
    package init(context: SignalContext = .init()) throws(PressureError) {
        self.context = context
        state = Lock(State(locator: try CgroupLocator(context: context)))
        let isEmpty = state.withLock { state in
            move(&state, at: MonotonicInstant(nanoseconds: 0))
            return state.levels.allSatisfy { $0 == nil }
        }
        guard !isEmpty else { throw .noCgroupEvents }
    }

    package func sample(at now: MonotonicInstant, into readings: inout [SignalReading?], from first: Int) {
        state.withLock { state in
            move(&state, at: now)
            for place in state.levels.indices { readings[first + place] = read(place, &state, at: now) }
        }
    }

    private func read(_ place: Int, _ state: inout State, at now: MonotonicInstant) -> SignalReading? {
        guard let level = state.levels[place] else { return nil }
        guard var counters = level.file.read(EventCounters.parse) else {
            state.isLost = true
            return nil
        }
        if !level.isLocal, !level.isOwn {
            // Of a cgroup above, and counted with all below it: somebody else's end is not ours.
            counters.oom = 0
            counters.oomKill = 0
        }
        if level.hasFired {
            // Old kernels notify first and count later: no growth is no mistake.
            state.levels[place]?.isVerified = level.isVerified || level.last.map { $0 != counters } ?? false
            state.levels[place]?.hasFired = false
            state.levels[place]?.rangAt = now
        } else if !level.isWatched, level.rangAt.map({ now - $0 >= Self.pause }) ?? false {
            watch(place, &state)
        }
        state.levels[place]?.last = counters
        return SignalReading(origin: .events, source: level.path, measure: .events(counters), takenAt: now)
    }

    private func move(_ state: inout State, at now: MonotonicInstant) {
        guard let layout = state.locator.changedLayout(isLost: state.isLost, at: now) else { return }
        state.isLost = false
        for place in state.levels.indices {
            unwatch(place, &state)
            state.levels[place] =
                place < layout.unified.count ? Self.open(layout.unified[place], isOwn: place == 0) : nil
            watch(place, &state)
        }
    }

    private static func open(_ directory: String, isOwn: Bool) -> Level? {
        for (name, isLocal) in [("/memory.events.local", true), ("/memory.events", false)] {
            let path = directory + name
            guard let file = try? ProcFile(path: path), let counters = file.read(EventCounters.parse) else { continue }
            return Level(path: path, file: file, isLocal: isLocal, isOwn: isOwn, last: counters)
        }
        return nil
    }

    // MARK: Waiting

    private func watch(_ place: Int, _ state: inout State) {
        guard let loop = state.loop, let level = state.levels[place], !level.isWatched, level.refusal == nil else {
            return
        }
        let isWatched = loop.watch(level.file.descriptor, for: .urgent, tag: place, receiver: self)
        state.levels[place]?.isWatched = isWatched
        if !isWatched { state.levels[place]?.refusal = errno }
    }

    private func unwatch(_ place: Int, _ state: inout State) {
        guard let level = state.levels[place], level.isWatched else { return }
        state.loop?.unwatch(level.file.descriptor)
        state.levels[place]?.isWatched = false
    }

    package func attach(to loop: EventLoop) {
        state.withLock { state in
            state.loop = loop
            for place in state.levels.indices { watch(place, &state) }
        }
    }

    package func detach(from loop: EventLoop) {
        state.withLock { state in
            guard state.loop === loop else { return }
            for place in state.levels.indices { unwatch(place, &state) }
            state.loop = nil
        }
    }

    /// The event's `failed` says nothing here: these files always report EPOLLERR.
    package func receive(_ event: EventLoop.Event) {
        state.withLock { state in
            state.levels[event.tag]?.hasFired = true
            unwatch(event.tag, &state)
        }
    }

    package func reopenAfterFork() {
        state.withLock { state in
            for place in state.levels.indices { unwatch(place, &state) }
            guard let locator = try? CgroupLocator(context: context) else { return }
            state.locator = locator
            move(&state, at: MonotonicInstant(nanoseconds: 0))
        }
    }

    package var statuses: [SignalStatus] {
        state.withLock { state in state.levels.compactMap { $0.map(Self.status) } }
    }

    private static func status(_ level: Level) -> SignalStatus {
        let counted =
            level.last.map { "high \($0.high), max \($0.max), oom \($0.oom) so far" } ?? "nothing counted so far"
        var status = SignalStatus(origin: .events, source: level.path, state: .available, detail: "\(counted); polled.")
        if level.isWatched || level.rangAt != nil {
            status.state = level.isVerified ? .verified : .armed
            status.detail = "\(counted); the kernel notifies when it changes."
        }
        return status
    }
}

extension PressureError {
    fileprivate static var noCgroupEvents: PressureError {
        PressureError(
            code: .signalUnavailable,
            message: """
                No memory.events can be seen: the memory controller is of version 1, or not enabled. Use the unified tree \
                (systemd.unified_cgroup_hierarchy=1), and enable the controller for the process's cgroup.
                """
        )
    }
}
