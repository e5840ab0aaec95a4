import Glibc
package import PressureSystem

/// How long tasks have waited for memory: in the process's own cgroup, in those next above it, and on the whole machine.
///
/// Where the kernel lets it, triggers are armed and the monitor is woken; elsewhere the totals are read with each sample.
/// Either way it is the growth of the totals that counts.
package final class StallSource: SignalSource {
    /// The process's own cgroup, three above it, and the machine. Each trigger of a privileged process costs the kernel a
    /// thread, so there are no more.
    package static let mostPlaces = 5
    /// Tags from here on are those of early triggers.
    private static let earlyTags = 1000

    private struct State {
        var locator: CgroupLocator
        var places: [StallPlace?] = Array(repeating: nil, count: StallSource.mostPlaces)
        var loop: EventLoop?
        /// A trigger has ended, or a file is gone: all is looked for again, within a second.
        var isLost = false
    }

    package let name = "stalls"
    package var width: Int { Self.mostPlaces }

    private let context: SignalContext
    private let state: Lock<State>

    /// Finds the files and opens them for reading; triggers are armed when a monitor attaches.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when the kernel counts no stalls, or nothing of it can be
    ///   seen.
    package init(context: SignalContext = .init()) throws(PressureError) {
        self.context = context
        state = Lock(State(locator: try CgroupLocator(context: context)))
        let isEmpty = state.withLock { state in
            move(&state, at: MonotonicInstant(nanoseconds: 0))
            return state.places.allSatisfy { $0 == nil }
        }
        guard isEmpty else { return }
        // Its own error is the one worth telling.
        _ = try StallPlace(path: context.path("/proc/pressure/memory"), scope: .host)
    }

    deinit {
        state.withLock { state in
            for place in state.places.indices { state.places[place]?.disarm { _ in } }
        }
    }

    package func sample(at now: MonotonicInstant, into readings: inout [SignalReading?], from first: Int) {
        state.withLock { state in
            move(&state, at: now)
            for place in state.places.indices {
                readings[first + place] = read(place, &state, at: now)
            }
        }
    }

    private func read(_ place: Int, _ state: inout State, at now: MonotonicInstant) -> SignalReading? {
        guard let path = state.places[place]?.path else { return nil }
        guard let stall = state.places[place]?.reading() else {
            state.isLost = true
            return nil
        }
        return SignalReading(origin: .stall, source: path, measure: .stall(stall), takenAt: now)
    }

    // MARK: Places

    /// Opens the files of where the process is now, if that is another place than before.
    private func move(_ state: inout State, at now: MonotonicInstant) {
        guard let layout = state.locator.changedLayout(isLost: state.isLost, at: now) else { return }
        disarm(&state)
        state.isLost = false
        var places: [StallPlace?] = []
        // The root of the whole tree is the machine, which has a file of its own; it has no type.
        for directory in layout.unified.prefix(Self.mostPlaces - 1)
        where unsafe access(directory + "/cgroup.type", F_OK) == 0 {  // the string outlives the call
            places.append(
                try? StallPlace(path: directory + "/memory.pressure", scope: places.isEmpty ? .own : .above)
            )
        }
        while places.count < Self.mostPlaces - 1 { places.append(nil) }
        places.append(try? StallPlace(path: context.path("/proc/pressure/memory"), scope: .host))
        state.places = places
        arm(&state)
    }

    private func arm(_ state: inout State) {
        guard let loop = state.loop else { return }
        for place in state.places.indices {
            state.places[place]?.arm(context.thresholds.stall) { descriptor, isEarly in
                let tag = isEarly ? place + Self.earlyTags : place
                return loop.watch(descriptor, for: .urgent, tag: tag, receiver: self)
            }
        }
    }

    private func disarm(_ state: inout State) {
        let loop = state.loop
        for place in state.places.indices { state.places[place]?.disarm { loop?.unwatch($0) } }
    }

    // MARK: Waiting

    package func attach(to loop: EventLoop) {
        state.withLock { state in
            state.loop = loop
            arm(&state)
        }
    }

    package func detach(from loop: EventLoop) {
        state.withLock { state in
            guard state.loop === loop else { return }
            disarm(&state)
            state.loop = nil
        }
    }

    package func receive(_ event: EventLoop.Event) {
        state.withLock { state in
            let isEarly = event.tag >= Self.earlyTags
            let place = isEarly ? event.tag - Self.earlyTags : event.tag
            guard event.failed else {
                state.places[place]?.noteRing(early: isEarly)
                return
            }
            // For good: the cgroup is gone or the kernel has stopped counting. Left open, the descriptor reports events for ever.
            let loop = state.loop
            state.places[place]?.disarm { loop?.unwatch($0) }
            state.isLost = true
        }
    }

    package func reopenAfterFork() {
        state.withLock { state in
            disarm(&state)
            guard let locator = try? CgroupLocator(context: context) else { return }
            state.locator = locator
            move(&state, at: MonotonicInstant(nanoseconds: 0))
        }
    }

    package var statuses: [SignalStatus] { state.withLock { $0.places.compactMap { $0?.status } } }
}
