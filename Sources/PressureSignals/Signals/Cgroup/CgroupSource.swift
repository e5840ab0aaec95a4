import Glibc
package import PressureSystem
import SystemPackage

/// What is left of the limits of all cgroups that the process is in, as far as they can be seen, version 2 and version 1.
///
/// Each cgroup has a place of its own, because what a threshold means depends on the limit. Where the kernel can watch
/// usage (version 1, with write access), it wakes the monitor at the crossing itself; elsewhere the monitor polls.
/// Limits are read with each sample, and a move to other cgroups is noticed within five seconds.
package final class CgroupSource: SignalSource {
    private struct Level {
        let files: any CgroupLevel
        var notifier: UsageNotifier?
        var reclaim: ReclaimNotifier?
        /// It had a limit at the last sample.
        var isLimited = false
        var hasFired = false
        /// It has notified, and usage was where it said.
        var isVerified = false
    }

    /// Tags from here on are those of reclaim notifiers.
    private static let reclaimTags = 1000

    private struct State {
        var locator: CgroupLocator
        var levels: [Level?] = Array(repeating: nil, count: 2 * CgroupLayout.deepest)
        var loop: EventLoop?
        var isLost = false
        var firstSample: MonotonicInstant?
        /// The least limit of this sample.
        var limit: ByteCount?
    }

    package let name = "cgroups"
    package var width: Int { 2 * CgroupLayout.deepest }

    private let context: SignalContext
    private let state: Lock<State>

    /// Finds the process's cgroups and opens their files.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when no cgroup with a memory controller can be seen.
    package init(context: SignalContext = .init()) throws(PressureError) {
        self.context = context
        state = Lock(State(locator: try CgroupLocator(context: context)))
        let isEmpty = state.withLock { state in
            move(&state, at: MonotonicInstant(nanoseconds: 0))
            return state.levels.allSatisfy { $0 == nil }
        }
        guard !isEmpty else { throw .noMemoryCgroup }
    }

    deinit {
        state.withLock { state in
            for place in state.levels.indices { disarm(place, &state) }
        }
    }

    // MARK: Sampling

    package func sample(at now: MonotonicInstant, into readings: inout [SignalReading?], from first: Int) {
        state.withLock { state in
            move(&state, at: now)
            state.limit = nil
            state.firstSample = state.firstSample ?? now
            for place in state.levels.indices {
                readings[first + place] = state.levels[place] == nil ? nil : read(place, &state, at: now)
            }
            context.limited(state.limit)
        }
    }

    private func read(_ place: Int, _ state: inout State, at now: MonotonicInstant) -> SignalReading? {
        guard let files = state.levels[place]?.files, let usage = files.usage() else {
            state.isLost = true
            return nil
        }
        guard let headroom = usage.headroom else {
            guard state.levels[place]?.isLimited ?? false else { return nil }
            // The limit was lifted.
            disarm(place, &state)
            return SignalReading(
                origin: .cgroup,
                source: files.directory,
                measure: .demand(.normal, freeing: nil),
                takenAt: now
            )
        }
        state.levels[place]?.isLimited = true
        if let limit = usage.limit { state.limit = min(state.limit ?? limit, limit) }
        if state.levels[place]?.hasFired ?? false {
            state.levels[place]?.hasFired = false
            let marks = state.levels[place]?.notifier?.marks
            // The kernel counts in batches per CPU, and also notifies on the way down.
            let isTrue =
                (marks?.warning ?? marks?.critical ?? marks?.full).map { usage.used + .mebibytes(1) >= $0 } ?? false
            if isTrue { state.levels[place]?.isVerified = true }
        }
        arm(usage, place, &state, at: now)
        let isSafe = armReclaimNotifier(usage, place, &state, at: now)
        return SignalReading(
            origin: .cgroup,
            source: files.directory,
            measure: .headroom(headroom),
            takenAt: now,
            isWatched: isSafe || state.levels[place]?.notifier?.marks.isSafe ?? false
        )
    }

    private func arm(_ usage: CgroupUsage, _ place: Int, _ state: inout State, at now: MonotonicInstant) {
        guard let loop = state.loop, state.levels[place]?.notifier != nil,
            state.firstSample.map({ now - $0 >= context.watchesAfter }) ?? false
        else { return }
        let marks = UsageMarks(usage, thresholds: context.thresholds)
        guard state.levels[place]?.notifier?.arm(marks, of: usage.limit, on: loop, at: now) ?? false,
            let descriptor = state.levels[place]?.notifier?.descriptor, descriptor >= 0
        else { return }
        if !loop.watch(descriptor, for: .readable, tag: place, receiver: self) {
            state.levels[place]?.notifier?.disarm(from: nil)
        }
    }

    /// - Returns: Whether the level cannot rise without a notification.
    private func armReclaimNotifier(
        _ usage: CgroupUsage,
        _ place: Int,
        _ state: inout State,
        at now: MonotonicInstant
    ) -> Bool {
        guard let loop = state.loop, ReclaimNotifier.isSafe(usage, thresholds: context.thresholds) else { return false }
        state.levels[place]?.reclaim?.arm(at: now) { descriptor, interest in
            loop.watch(descriptor, for: interest, tag: place + Self.reclaimTags, receiver: self)
        }
        return state.levels[place]?.reclaim?.isArmed ?? false
    }

    private func disarm(_ place: Int, _ state: inout State) {
        let loop = state.loop
        state.levels[place]?.notifier?.disarm(from: loop)
        state.levels[place]?.reclaim?.disarm { loop?.unwatch($0) }
    }

    /// Looks whether the process has been moved, and if so, opens the files of where it is now.
    private func move(_ state: inout State, at now: MonotonicInstant) {
        guard let layout = state.locator.changedLayout(isLost: state.isLost, at: now) else { return }
        state.isLost = false
        for place in state.levels.indices {
            let index = place % CgroupLayout.deepest
            let directories = place < CgroupLayout.deepest ? layout.unified : layout.memory
            let directory = index < directories.count ? directories[index] : nil
            disarm(place, &state)
            state.levels[place] = directory.flatMap { open($0, isLegacy: place >= CgroupLayout.deepest) }
        }
    }

    private func open(_ directory: String, isLegacy: Bool) -> Level? {
        if isLegacy {
            guard let files = try? LegacyLevel(directory: directory) else { return nil }
            return Level(
                files: files,
                notifier: UsageNotifier(directory: directory),
                reclaim: ReclaimNotifier(legacy: directory)
            )
        }
        guard let files = try? UnifiedLevel(directory: directory) else { return nil }
        return Level(files: files, reclaim: ReclaimNotifier(unified: directory))
    }

    // MARK: Waiting

    package func attach(to loop: EventLoop) { state.withLock { $0.loop = loop } }

    package func detach(from loop: EventLoop) {
        state.withLock { state in
            guard state.loop === loop else { return }
            for place in state.levels.indices { disarm(place, &state) }
            state.loop = nil
        }
    }

    package func receive(_ event: EventLoop.Event) {
        state.withLock { state in
            guard event.tag < Self.reclaimTags else {
                let loop = state.loop
                state.levels[event.tag - Self.reclaimTags]?.reclaim?.noteRing { loop?.unwatch($0) }
                return
            }
            state.levels[event.tag]?.notifier?.drain()
            state.levels[event.tag]?.hasFired = true
        }
    }

    package func reopenAfterFork() {
        state.withLock { state in
            guard let locator = try? CgroupLocator(context: context) else { return }
            state.locator = locator
            move(&state, at: MonotonicInstant(nanoseconds: 0))
        }
    }

    package var statuses: [SignalStatus] {
        state.withLock { state in state.levels.compactMap { $0.map(Self.status) } }
    }

    private static func status(_ level: Level) -> SignalStatus {
        var status = SignalStatus(
            origin: .cgroup,
            source: level.files.directory,
            state: .available,
            detail: "No limit at this level; looked at all the same, because one may be set."
        )
        guard let usage = level.files.usage() else {
            status.state = .unavailable
            status.detail = "The cgroup is gone or may not be read any more."
            return status
        }
        guard let headroom = usage.headroom else { return status }
        let isArmed = level.reclaim?.isArmed ?? false
        status.state = isArmed ? .armed : .available
        status.detail =
            "\(headroom.available) of \(headroom.limit) left; "
            + (isArmed ? "the kernel notifies when it takes page cache away." : "polled.")
        guard let notifier = level.notifier else { return status }
        if let refusal = notifier.refusal {
            let reason = Errno(rawValue: refusal)
            status.detail =
                "\(headroom.available) of \(headroom.limit) left; polled, for the kernel may not be asked to notify: \(reason)."
            status.remedy =
                "Mount the cgroup file system writable for the process; without it, it is polled more often."
        } else if notifier.descriptor >= 0 {
            status.state = level.isVerified ? .verified : .armed
            let usages = [notifier.marks.warning, notifier.marks.critical, notifier.marks.full].compactMap {
                $0.map(\.description)
            }
            let marks = (usages.dropLast(2) + [usages.suffix(2).joined(separator: " and ")]).joined(separator: ", ")
            status.detail =
                "\(headroom.available) of \(headroom.limit) left; the kernel notifies at a usage of \(marks)."
        }
        return status
    }
}

extension PressureError {
    fileprivate static var noMemoryCgroup: PressureError {
        PressureError(
            code: .signalUnavailable,
            message: """
                No cgroup with a memory controller can be seen. Mount the cgroup file system (read-only is enough) at \
                /sys/fs/cgroup, or enable the memory controller for the process's cgroup.
                """
        )
    }
}
