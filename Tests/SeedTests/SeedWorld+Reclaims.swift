import Glibc
import PressureKitTestSupport
import PressureSignals

@testable import PressureKit
@testable import PressureKitTesting

/// What somebody asks for.
struct SeedReclaim {
    var level = PressureLevel.normal
    var bytes: Int?
    /// Asked for from inside a hook of the first.
    var more: Int?
}

/// Reclaims of all kinds, and what their reports have to be.
extension SeedWorld {
    /// What was before a reclaim.
    struct Before {
        var live: Int
        var calls: Int
        var writes: Int
        var complaints: Int
    }

    func before(_ home: Int) -> Before {
        // Nothing looks between a step's last read and this: the task that has made that value may still hold it.
        letTasksEnd(homes[home])
        return Before(
            live: homes[home].live.bytes,
            calls: calls,
            writes: homes[home].disk.faulty.calls(.write),
            complaints: complaints.count
        )
    }

    /// Has a manager reclaim and waits for it.
    @discardableResult
    func reclaim(_ number: Int, _ wanted: SeedReclaim) -> EvictionReport {
        let home = homes[number]
        let manager = home.manager
        let request =
            wanted.level == .normal
            ? manager.request(ByteCount(bytes: wanted.bytes ?? 0), source: "seed")
            : manager.warning(wanted.level, freeing: wanted.bytes.map(ByteCount.init), source: "seed")
        let second = ConditionLock<EvictionReport?>(nil)
        var asked = false
        if let more = wanted.more, let node = nodes.first(where: { $0.home == number }) {
            node.delegate.more.withLock {
                $0 = {
                    var request = manager.request(ByteCount(bytes: more), source: "seed twice")
                    request.reply = { report in
                        let taken = report.take()
                        second.withLock { $0 = taken }
                    }
                    manager.reclaim.request(request)
                }
            }
            asked = true
        }
        let before = before(number)
        let (report, live) = perform(request, home)
        if asked, let node = nodes.first(where: { $0.home == number }) {
            // Taken by the hook, or nobody was warned.
            let isLeft = node.delegate.more.withLock { more in
                defer { more = nil }
                return more != nil
            }
            if !isLeft {
                let other = second.wait { $0 }
                if other.number != report.number || other.claimed != report.claimed {
                    complain(.p12, "asked for while \(report.number) ran: \(other.number), \(other.claimed)")
                }
            }
        }
        check(report, number, before, live: live, goal: max(wanted.bytes ?? 0, wanted.more ?? 0))
        return report
    }

    /// Carries a request out. Also returns the bytes of the values in memory when it had just ended: a background reclaim
    /// comes behind it, if a sample that was taken meanwhile wants it to.
    func perform(_ request: ReclaimRequest, _ home: Home) -> (EvictionReport, live: Int) {
        let manager = home.manager
        let result = ConditionLock<(EvictionReport, live: Int)?>(nil)
        // This thread waits for it meanwhile.
        nonisolated(unsafe) let owner = home
        var request = request
        manager.context.listener.hurry(for: request.cause.levelAfter)
        request.reply = { report in
            // Where loaders suspend, the task that has made a value lets go of it a moment after its reader has it.
            unsafe self.letTasksEnd(owner)
            let taken = report.take().map { ($0, live: unsafe owner.live.bytes) }
            result.withLock { $0 = taken }
        }
        manager.reclaim.request(request)
        defer { manager.reclaim.waitUntilIdle() }
        return result.wait { $0 }
    }

    func attemptEviction(_ node: Int) {
        let home = nodes[node].home
        let before = before(home)
        let controller = nodes[node].controller
        guard let report = try? wait({ await controller.attemptEviction() }) else { return }
        check(report, home, before, live: homes[home].live.bytes, goal: 0, isOfManager: false)
    }

    /// What every report has to be.
    ///
    /// - Parameter live: The bytes of the values in memory when it had just ended.
    func check(
        _ report: EvictionReport,
        _ number: Int,
        _ before: Before,
        live: Int,
        goal: Int,
        isOfManager: Bool = true
    ) {
        let home = homes[number]
        count(report)
        note("  \(summary(report))")
        let isQuiet = calls == before.calls
        // P12
        if isOfManager {
            if report.number <= home.reclaims { complain(.p12, "reclaim \(report.number) after \(home.reclaims)") }
            home.reclaims = report.number
            if isQuiet, goal > 0, report.claimed.bytes >= goal + largest(number) {
                complain(.p12, "\(report.claimed) were freed for a goal of \(goal) bytes")
            }
        }
        // P8
        let claimed = report.evicted.reduce(0) { $0 + $1.bytes.bytes }
        if claimed != report.claimed.bytes { complain(.p8, "claimed \(report.claimed), by value \(claimed)") }
        let compressed = report.evicted.reduce(0) { $0 + ($1.outcome == .compressed ? $1.storedBytes.bytes : 0) }
        if isQuiet, isOfManager {
            let isAlone = !caches.contains { $0.suspends }
            let freed = before.live - live
            if freed != claimed + compressed {
                complain(.p8, "claimed \(claimed) and \(compressed) compressed, but \(freed) bytes are free")
            }
            if isAlone, report.returned.bytes != freed {
                complain(.p8, "returned \(report.returned), but \(freed) are free")
            }
        }
        // P5
        let isPlain = !caches.contains { $0.isWritten } && report.failures.isEmpty && home.rule == nil
        // What does not shrink is an error inside, and swift-testing allocates to note where each was thrown:
        // once for each value in each round, of which there are few.
        let mayShrink = report.evictedCount + report.skipped.reduce(0) { $0 + $1.count }
        let allowed = setting.tier % 3 == 0 ? 0 : 4 * mayShrink
        if isQuiet, isPlain, let allocations = report.allocations, allocations > allowed {
            complain(.p5, "\(allocations) allocations")
        }
        // P3
        let spilled = report.evicted.reduce(0) { $0 + ($1.outcome == .spilled ? $1.count : 0) }
        if home.isUnwritable, spilled > 0, setting.server == 0 {
            complain(.p3, "\(spilled) values spilled, and every write fails")
        }
        if isQuiet, isOfManager { checkBackoff(report, home, before) }
        for failure in report.failures where failure.path == nil && home.rule == nil && home.isLongSound(clock) {
            complain(.p3, "a failure of a sound disk: \(failure)")
        }
        // P9
        if setting.memory != 0, isOfManager {
            let stored = report.stored
            if report.heldInMemoryBackedStorage.bytes < 0 || spilled > 0 && report.heldInMemoryBackedStorage == .zero {
                complain(.p9, "\(spilled) values spilled to memory, \(stored) stored, and none said to be held there")
            }
        }
        // P11
        if report.cause.source.isEmpty { complain(.p11, "a report without a source") }
        if !report.unheard.isEmpty { complain(.p6, "hooks not waited for: \(report.unheard)") }
        if report.unlisted != 0 { complain(.other, "\(report.unlisted) values not listed") }
    }

    /// A full disk is left alone for a second at least.
    private func checkBackoff(_ report: EvictionReport, _ home: Home, _ before: Before) {
        let now = clock.now()
        let writes = home.disk.faulty.calls(.write) - before.writes
        if let until = home.leftAloneUntil, now < until, writes > 0 {
            complain(.p3, "\(writes) writes to a disk that was full a moment ago")
        }
        guard home.isUnwritable, report.failures.contains(where: { $0.code == .diskFull }) else { return }
        home.leftAloneUntil = now + .milliseconds(999)
        // Where there is a server it has gone there.
        guard setting.server == 0 else { return }
        // Or went another way, once writing was given up.
        let rest = Set(report.skipped.map(\.path) + report.evicted.filter { $0.outcome != .spilled }.map(\.path))
        for failure in report.failures {
            if let path = failure.path, !rest.contains(path) {
                complain(.p3, "a spill of \(path) failed, and nothing stayed")
            }
        }
    }

    private func summary(_ report: EvictionReport) -> String {
        let evicted = report.evicted.map { "\($0.path) \($0.outcome.rawValue) \($0.count) \($0.bytes.bytes)" }
        let skipped = report.skipped.map { "\($0.path) \($0.reason.rawValue) \($0.count)" }
        let failed = report.failures.map { "\($0.path ?? "-") \($0.code)" }
        return "report \(report.number): \(report.claimed.bytes); \(evicted.joined(separator: ", ")); "
            + "stayed \(skipped.joined(separator: ", ")); failed \(failed.joined(separator: ", "))"
    }

    private func count(_ report: EvictionReport) {
        counts.reclaims += 1
        counts.evicted += report.evictedCount
        counts.failed += report.failures.count
        for row in report.evicted {
            switch row.outcome {
            case .spilled: counts.spilled += row.count
            case .dropped: counts.dropped += row.count
            case .compressed: counts.compressed += row.count
            case .reused: counts.reused += row.count
            }
        }
    }

    /// The footprint of the largest value that there may be.
    private func largest(_ home: Int) -> Int {
        entries.indices.filter { entries[$0].home == home }.map { number in
            let entry = entries[number]
            let versions = entry.exact.map { [$0] } ?? Array(entry.loaded)
            return versions.map {
                SeedContent(home: 0, owner: Int32(number), version: $0, lie: entry.lie).footprint
            }.max() ?? 0
        }.max() ?? 0
    }
}

extension SeedWorld.Home {
    /// Whether the disk has been sound for so long that nothing of earlier failures is left.
    func isLongSound(_ clock: ManualClock) -> Bool {
        soundSince.map { clock.now() - $0 > .seconds(120) } ?? true
    }
}
