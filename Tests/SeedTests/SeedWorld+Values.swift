import PressureKitTestSupport

@testable import PressureKit
@testable import PressureKitTesting

/// What a loader of a run throws.
struct SeedLoaderError: Error {}

/// Readers, writers and loaders, each held against what has to be.
extension SeedWorld {
    // MARK: Loaders

    /// What a loader makes; on whichever thread reads.
    func load(_ number: Int) throws -> SeedBlock {
        let entry = entries[number]
        if entry.exact != nil { complain(.p1, "\(name(number)) was set, and is loaded") }
        if entry.failures > 0 {
            entries[number].failures -= 1
            note("  load \(number) fails")
            throw SeedLoaderError()
        }
        if loaderDelay > 0 { clock.advance(by: .milliseconds(loaderDelay)) }
        if let back = loaderCallsBack, depth < 3 {
            depth += 1
            let isNew = busy.insert(number).inserted
            calledBack(back, home: entry.home)
            if isNew { busy.remove(number) }
            depth -= 1
        }
        entries[number].loaded.insert(entries[number].source)
        return makeBlock(number, entries[number].source, entries[number].lie)
    }

    func makeBlock(_ number: Int, _ version: Int64, _ lie: SeedLie) -> SeedBlock {
        SeedBlock(SeedContent(home: Int32(entries[number].home), owner: Int32(number), version: version, lie: lie))
    }

    func name(_ number: Int) -> String {
        let entry = entries[number]
        let path = caches[entry.cache].entry.path
        return caches[entry.cache].keys.count > 1 ? "\(path)[\(entry.key)]" : path
    }

    // MARK: Judging

    /// Whether a value that somebody got is one that there may be.
    func judge(_ block: SeedBlock, _ number: Int, _ how: String, made: Int64? = nil) {
        let entry = entries[number]
        let content = block.content
        guard block.isIntact, content.owner == Int32(number) else {
            return complain(.p4, "\(how) \(name(number)): wrong bytes: \(content)")
        }
        if let exact = entry.exact {
            if content.version != exact {
                complain(.p1, "\(how) \(name(number)): version \(content.version), but \(exact) was set")
            }
        } else if made != content.version {
            let allowed = caches[entry.cache].hasLoader ? entry.loaded.union([entry.source]) : entry.loaded
            if !allowed.contains(content.version) {
                complain(.p4, "\(how) \(name(number)): version \(content.version), not of \(allowed.sorted())")
            }
            entries[number].loaded = [content.version]
        }
        note("  \(how) \(number): \(content.version)")
    }

    /// Whether an error is one that there may be.
    func judge(_ error: any Error, _ number: Int, _ how: String) {
        counts.errors += 1
        let entry = entries[number]
        let hasLoader = caches[entry.cache].hasLoader
        if error is SeedLoaderError, hasLoader {
            note("  \(how) \(number): the loader fails")
            return
        }
        guard let failure = error as? PressureError else {
            return complain(.p4, "\(how) \(name(number)): \(error)")
        }
        note("  \(how) \(number): \(failure.code)")
        switch failure.code {
        case .noValue:
            if hasLoader || entry.exact != nil || !entry.loaded.isEmpty {
                complain(.p1, "\(how) \(name(number)): no value, but there is \(entry.exact ?? entry.source)")
            }
        case .restoreFailed, .damagedCopy:
            // Whoever asks for what is there runs no loader, for which copies of what can be made again are not read back.
            let isOnlyAsked = hasLoader && entry.exact == nil && ["present", "update or make"].contains(how)
            if hasLoader, entry.exact == nil, !isOnlyAsked {
                complain(.p4, "\(how) \(name(number)) was not made again by its loader: \(failure)")
            }
            let home = homes[entry.home]
            if !home.isUnreadable, !(isOnlyAsked && home.wasSpoilt) {
                complain(.p4, "\(how) \(name(number)) on a sound disk: \(failure)")
            }
            let path = caches[entry.cache].entry.path
            if failure.path?.hasPrefix(path) != true { complain(.p4, "\(how) \(name(number)): not named: \(failure)") }
        default: complain(.other, "\(how) \(name(number)): \(failure)")
        }
    }

    /// Works on a value, which hooks leave alone meanwhile.
    private func working(_ number: Int, _ how: String, _ body: () throws -> Void) {
        guard busy.insert(number).inserted else { return }
        defer { busy.remove(number) }
        do { try body() } catch { judge(error, number, how) }
    }

    private func verbs(_ number: Int) -> SeedCache.Verbs { caches[entries[number].cache].verbs }

    /// A value was replaced: who leased the old one keeps that.
    private func replaced(_ number: Int) {
        for index in holds.indices where holds[index].entry == number { holds[index].isDetached = true }
    }

    // MARK: Readers

    func read(_ number: Int) {
        counts.reads += 1
        working(number, "read") { try verbs(number).read(entries[number].key) { judge($0, number, "read") } }
    }

    func readAsynchronously(_ number: Int) {
        counts.reads += 1
        working(number, "await") { judge(try verbs(number).awaited(entries[number].key), number, "await") }
    }

    func peek(_ number: Int) {
        working(number, "peek") {
            let isThere = verbs(number).peek(entries[number].key) { judge($0, number, "peek") }
            if !isThere { note("  peek \(number): not loaded") }
        }
    }

    func present(_ number: Int) {
        working(number, "present") {
            if let block = try verbs(number).present(entries[number].key) {
                judge(block, number, "present")
            } else {
                note("  present \(number): none")
                if entries[number].exact != nil { complain(.p1, "\(name(number)) is not present, and was set") }
            }
        }
    }

    func lease(_ number: Int) {
        guard holds.count < 6 else { return }
        working(number, "lease") {
            let hold = try verbs(number).lease(entries[number].key)
            judge(hold.block, number, "lease")
            holds.append(Hold(entry: number, hold: hold))
        }
    }

    /// A reclaim of everything while the value is in use by the very thread that asks for it.
    func nested(_ number: Int) {
        let home = entries[number].home
        guard !caches[entries[number].cache].suspends else { return read(number) }
        working(number, "nested") {
            try verbs(number).read(entries[number].key) { block in
                judge(block, number, "nested")
                let version = block.content.version
                reclaim(home, SeedReclaim(level: .critical))
                if !block.isIntact || block.content.version != version {
                    complain(.p2, "\(name(number)) was moved while it was in use")
                }
                let residency = verbs(number).residency(entries[number].key)
                if residency != .resident { complain(.p2, "\(name(number)) is \(residency) while it is in use") }
            }
        }
    }

    // MARK: Writers

    func set(_ number: Int, lie: SeedLie) {
        working(number, "set") {
            version += 1
            let block = makeBlock(number, Int64(version), lie)
            replaced(number)
            try verbs(number).set(entries[number].key, block)
            (entries[number].exact, entries[number].loaded) = (Int64(version), [])
            entries[number].lie = lie
            if mistake == .forgetsSet, version % 5 == 0 { try verbs(number).invalidate(entries[number].key) }
        }
    }

    func update(_ number: Int) {
        working(number, "update") {
            version += 1
            let new = Int64(version)
            let old = try verbs(number).update(entries[number].key, makeBlock(number, new, .none))
            judge(old, number, "update")
            replaced(number)
            (entries[number].exact, entries[number].loaded, entries[number].lie) = (new, [], .none)
        }
    }

    func updateOrMake(_ number: Int) {
        working(number, "update or make") {
            version += 2
            let (new, made) = (Int64(version), Int64(version - 1))
            let old = try verbs(number).orMake(
                entries[number].key,
                makeBlock(number, made, .none),
                makeBlock(number, new, .none)
            )
            judge(old, number, "update or make", made: made)
            replaced(number)
            (entries[number].exact, entries[number].loaded, entries[number].lie) = (new, [], .none)
        }
    }

    func invalidate(_ number: Int) {
        working(number, "invalidate") {
            replaced(number)
            try verbs(number).invalidate(entries[number].key)
            (entries[number].exact, entries[number].loaded, entries[number].lie) = (nil, [], .none)
        }
    }

    // MARK: Loads that go on meanwhile

    /// Begins a load that waits in its loader until ``finish(_:)``.
    func beginLoad(_ number: Int) {
        let cache = caches[entries[number].cache]
        guard cache.suspends, loads.isEmpty, entries[number].exact == nil, !busy.contains(number) else { return }
        guard cache.verbs.residency(entries[number].key) == .unloaded, entries[number].failures == 0 else { return }
        busy.insert(number)
        let load = SeedLoad(entry: number, gate: Gate(), result: ConditionLock(nil))
        loads.append(load)
        let key = entries[number].key
        // Only this thread reads by it while it lasts.
        nonisolated(unsafe) let read = cache.verbs.awaited
        try? WorkerThread.spawn("seed-load") {
            let result: Result<SeedBlock, any Error>
            do { result = .success(unsafe try read(key)) } catch { result = .failure(error) }
            load.result.withLock { $0 = result }
        }
        // It is in its loader, or it has come to an end.
        while load.gate.waiting == 0, load.result.withLock({ $0 == nil }) { Self.giveWay() }
    }

    func finishLoads() {
        for load in loads {
            load.gate.open()
            let result = load.result.wait { $0 }
            loads.removeAll { $0.entry == load.entry }
            busy.remove(load.entry)
            do { judge(try result.get(), load.entry, "finish") } catch { judge(error, load.entry, "finish") }
        }
    }
}
