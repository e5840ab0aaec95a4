import Glibc
import PressureKitTestSupport
import Synchronization

@testable import PressureKit
@testable import PressureKitTesting

/// Saving, ending, and coming back.
extension SeedWorld {
    static let directory = "/var/tmp/state"

    func save(_ number: Int) {
        guard loads.isEmpty else { return }
        let home = homes[number]
        // In the model a late failure is told to nobody who synchronises, as the kernel would.
        if case .lateError = home.rule?.fault { heal(home) }
        counts.saves += 1
        let manager = home.manager
        // Beside a server there may be more than the file has room for, and a state has the same limit.
        let isSound = home.rule == nil && !home.isSmall && setting.server == 0
        do {
            let report = try wait { try await manager.saveState(to: Self.directory) }
            // What a disk has damaged while it lied stays damaged.
            let isLasting = { (code: PressureError.Code) in [.damagedCopy, .restoreFailed].contains(code) }
            let failures = report.failures.filter { !home.wasSpoilt || !isLasting($0.code) }
            if isSound, !failures.isEmpty, !entries.contains(where: { !$0.lie.isWritable }) {
                complain(.other, "not all was saved on a sound disk: \(failures)")
            }
            noteSaved(number, isWhole: isSound && report.failures.isEmpty)
            note("  saved \(report.caches.count) caches, \(report.failures.count) failures")
        } catch let error as PressureError {
            note("  \(error.code)")
            if isSound { complain(.other, "not saved on a sound disk: \(error)") }
            // The one that failed in its last step is the new one all the same.
            if error.message.contains("is the new one") { noteSaved(number, isWhole: false) }
        } catch { complain(.other, "saving: \(error)") }
    }

    private func noteSaved(_ number: Int, isWhole: Bool) {
        homes[number].isSaved = true
        for index in entries.indices where entries[index].home == number {
            let entry = entries[index]
            let cache = caches[entry.cache]
            guard cache.verbs.residency(entry.key) != .unloaded, entry.lie.isWritable else {
                entries[index].saved = nil
                continue
            }
            entries[index].saved = SeedEntry.Saved(
                path: cache.entry.path,
                exact: entry.exact,
                loaded: entry.loaded,
                lie: entry.lie,
                isCertain: isWhole
            )
        }
    }

    /// The process is killed; another one begins, makes the same controllers and caches, and has none of the values.
    func kill(_ number: Int) throws {
        guard loads.isEmpty else { return }
        counts.kills += 1
        let home = homes[number]
        // Its disk comes back with it.
        heal(home)
        home.disk.latency.store(0, ordering: .relaxed)
        holds.removeAll { entries[$0.entry].home == number }
        home.base.endProcess()
        home.manager.shutdownAndWait()
        checkNames(home, "after the process was killed")
        for node in nodes.indices where nodes[node].home == number { nodes[node].controller.delegate = nil }
        home.live = LiveBytes()
        home.manager = try makeManager(number, home.disk)
        adopt(home)
        for node in nodes.indices where nodes[node].home == number {
            let old = nodes[node]
            let controller = PressureController(old.controller.identifier)
            let delegate = SeedDelegate(world: self, home: number)
            controller.delegate = delegate
            nodes[node] = Node(home: number, controller: controller, delegate: delegate, parent: old.parent)
        }
        // Parents may have come later than their children.
        for node in nodes where node.home == number {
            try (node.parent.map { nodes[$0].controller } ?? home.manager.root).addChild(node.controller)
        }
        for index in caches.indices where nodes[caches[index].controller].home == number {
            let old = caches[index]
            caches[index] = try makeCache(old.step, old.controller, number: index, firstEntry: old.firstEntry)
        }
        for index in entries.indices where entries[index].home == number {
            (entries[index].exact, entries[index].loaded, entries[index].lie) = (nil, [], .none)
        }
    }

    /// What was saved comes back.
    func restore(_ number: Int) {
        guard loads.isEmpty else { return }
        counts.restores += 1
        let manager = homes[number].manager
        do {
            let report = try wait { try await manager.restoreState(from: Self.directory) }
            note("  restored \(report.caches.count) caches, \(report.failures.count) failures")
            if report.isFound != homes[number].isSaved {
                complain(.other, "a saved state \(report.isFound ? "that nobody saved" : "is gone")")
            }
            if !report.failures.isEmpty { complain(.other, "restoring on a sound disk: \(report.failures)") }
        } catch { complain(.other, "restoring on a sound disk: \(error)") }
        for index in entries.indices where entries[index].home == number {
            let (entry, cache) = (entries[index], caches[entries[index].cache])
            let isBack = cache.verbs.residency(entry.key) == .spilled
            let saved = entry.saved.flatMap { $0.path == cache.entry.path ? $0 : nil }
            guard let saved else {
                if isBack { complain(.other, "\(name(index)) is back, and was not saved") }
                continue
            }
            if !isBack, saved.isCertain { complain(.other, "\(name(index)) was saved, and is not back") }
            guard isBack else { continue }
            (entries[index].exact, entries[index].loaded, entries[index].lie) = (saved.exact, saved.loaded, saved.lie)
        }
    }

    /// P7: no name but those of saved states.
    func checkNames(_ home: Home, _ when: String) {
        for directory in ["/var/tmp", "/dev/shm"] {
            let names = (try? home.base.names(in: directory)) ?? []
            if !names.isEmpty { complain(.p7, "\(when): \(names.sorted()) in \(directory)") }
        }
    }
}
