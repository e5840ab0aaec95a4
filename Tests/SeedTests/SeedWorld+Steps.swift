import CAllocationCounter
import Glibc
import PressureKitTestSupport
import PressureSignals
import Synchronization

@testable import PressureKit
@testable import PressureKitTesting

/// Playing steps.
extension SeedWorld {
    /// Plays a step and looks whether all is as it has to be.
    func play(_ step: SeedStep, number: Int) {
        self.step = number
        note("\(number) \(step)")
        counts.steps += 1
        do { try carryOut(step) } catch { complain(.other, "\(step): \(error)") }
        check()
    }

    private func carryOut(_ step: SeedStep) throws {
        let (a, b, c) = (step[0], step[1], step[2])
        switch step.verb {
        case .controller: try addController(step)
        case .lazy, .keyed, .suspending: try addCache(step, controller: a)
        case .set: onEntry(a) { set($0, lie: b % 9 == 0 ? lie(c, $0) : .none) }
        case .update: onEntry(a) { update($0) }
        case .orMake: onEntry(a) { updateOrMake($0) }
        case .read: onEntry(a) { read($0) }
        case .await: onEntry(a) { readAsynchronously($0) }
        case .peek: onEntry(a) { peek($0) }
        case .present: onEntry(a) { present($0) }
        case .invalidate: onEntry(a) { invalidate($0) }
        case .lease: onEntry(a) { lease($0) }
        case .release: if !holds.isEmpty { holds.remove(at: a % holds.count) }
        case .nested: onEntry(a) { nested($0) }
        case .values: for number in entries.indices where !busy.contains(number) { read(number) }
        case .source:
            onEntry(a) { number in
                guard caches[entries[number].cache].hasLoader else { return }
                version += 1
                // What the loader makes from now on; what there is stays until it is invalidated or leaves.
                entries[number].source = Int64(version)
            }
        case .fails: onEntry(a) { entries[$0].failures = 1 + b % 2 }
        case .slow:
            if b % 2 == 0 { loaderDelay = b % 50 } else { slowDisks(b % 3000) }
        case .callsBack: loaderCallsBack = b % 3 == 0 ? nil : b
        case .begin: onEntry(a) { beginLoad($0) }
        case .finish: finishLoads()
        case .warn: reclaim(a % homes.count, SeedReclaim(level: b % 3 == 0 ? .critical : .warning))
        case .reclaim: reclaim(a % homes.count, SeedReclaim(bytes: 1 + b * b % 60_000))
        case .attempt: if !nodes.isEmpty { attemptEviction(a % nodes.count) }
        case .twice:
            reclaim(a % homes.count, SeedReclaim(level: .warning, bytes: 1 + b * 7, more: 1 + c * 500))
        case .others: memory.others.store(memory.limit.load(ordering: .relaxed) * (b % 11) / 10, ordering: .relaxed)
        case .limit: memory.limit.store((setting.limit << 10) * (1 + b % 8) / 4, ordering: .relaxed)
        case .watch: watch(for: .milliseconds(20 + b * b / 400))
        case .idle: idle()
        case .background: enterBackground(a % homes.count)
        case .foreground: enterForeground(a % homes.count)
        case .fault: spoil(homes[a % homes.count], b, c)
        case .heal: heal(homes[a % homes.count])
        case .capacity: setCapacity(homes[a % homes.count], b)
        case .writeBack: homes[a % homes.count].disk.faulty.writeBack()
        case .appear: onNode(a) { nodes[$0].controller.appear() }
        case .disappear: onNode(a) { nodes[$0].controller.disappear() }
        case .move: try onNode(a) { try move($0, to: b) }
        case .hooks: onNode(a) { nodes[$0].delegate.mood = b % 4 == 0 ? 0 : b }
        case .veto: onNode(a) { nodes[$0].delegate.veto = b % 12 }
        case .prefers:
            onNode(a) { nodes[$0].delegate.preferred = [nil, .spill, .drop, .compress, .keep][b % 5] }
        case .save: save(a % homes.count)
        case .kill: try kill(a % homes.count)
        case .restore:
            try kill(a % homes.count)
            restore(a % homes.count)
        case .audit: audit()
        }
    }

    private func onEntry(_ number: Int, _ body: (Int) -> Void) {
        guard !entries.isEmpty, !busy.contains(number % entries.count) else { return }
        body(number % entries.count)
    }

    private func onNode(_ number: Int, _ body: (Int) throws -> Void) rethrows {
        if !nodes.isEmpty { try body(number % nodes.count) }
    }

    /// How a value of a kind may lie.
    private func lie(_ number: Int, _ entry: Int) -> SeedLie {
        let lie = SeedLie.allCases[number % SeedLie.allCases.count]
        // Where bytes are made as they are written, what was said before is an estimate.
        if caches[entries[entry].cache].isWritten, lie == .half || lie == .more { return .heavy }
        return lie
    }

    // MARK: The tree

    private func addController(_ step: SeedStep) throws {
        let home = step[1] % homes.count
        let parent = step.parent(among: nodes.indices.filter { nodes[$0].home == home })
        let controller = PressureController("n\(nodes.count)")
        let delegate = SeedDelegate(world: self, home: home)
        if step[1] / 2 % 3 != 0 { controller.delegate = delegate }
        nodes.append(Node(home: home, controller: controller, delegate: delegate, parent: parent))
        try (parent.map { nodes[$0].controller } ?? homes[home].manager.root).addChild(controller)
    }

    private func move(_ node: Int, to number: Int) throws {
        let parent = number % nodes.count
        guard nodes[parent].home == nodes[node].home else { return }
        do {
            try nodes[node].controller.move(to: nodes[parent].controller)
            nodes[node].parent = parent
        } catch {
            guard error.code == .hierarchyInconsistency else { throw error }
            note("  \(error.code)")
        }
    }

    private func addCache(_ step: SeedStep, controller: Int) throws {
        guard !nodes.isEmpty else { return }
        let node = controller % nodes.count
        let cache = try makeCache(step, node, number: caches.count, firstEntry: entries.count)
        for key in cache.keys {
            entries.append(SeedEntry(cache: caches.count, key: key, home: nodes[node].home))
        }
        caches.append(cache)
    }

    /// Registers a cache as a step says it.
    func makeCache(_ step: SeedStep, _ node: Int, number: Int, firstEntry: Int) throws -> SeedCache {
        step[1] & 2 == 0
            ? try makeCache(Ballast.self, step, node, number: number, firstEntry: firstEntry)
            : try makeCache(Written.self, step, node, number: number, firstEntry: firstEntry)
    }

    private func makeCache<Value: SeedValue>(
        _ type: Value.Type,
        _ step: SeedStep,
        _ node: Int,
        number: Int,
        firstEntry: Int
    ) throws -> SeedCache {
        let controller = nodes[node].controller
        let hasLoader = step.hasLoader
        var options = CacheOptions()
        let choices: [Disposition] = [.all, .all, .all, .all, [.keep, .spill], [.keep, .spill, .compress], .keep]
        options.supportedDispositions = choices[step[1] / 4 % choices.count]
        if step.verb == .keyed { options.limit = [nil, nil, .bytes(8192), .bytes(40_000)][step[2] % 4] }
        options.countLimit = step.countLimit
        let name = "c\(number)"
        let keys = step.keys
        let load = { @Sendable [weak self] (key: Int) throws -> Value in
            guard let self else { throw SeedLoaderError() }
            return Value(try self.load(firstEntry + key))
        }
        let verbs: SeedCache.Verbs
        let entry: CacheEntry
        switch step.verb {
        case .lazy:
            let cache =
                hasLoader
                ? try controller.cache(name, options: options) { try load(0) }
                : try controller.cache(name, of: Value.self, options: options)
            (verbs, entry) = (.one(cache), cache.entry)
        case .keyed:
            let cache =
                hasLoader
                ? try controller.keyedCache(name, options: options) { (key: SeedKey) in try load(key.number) }
                : try controller.keyedCache(name, key: SeedKey.self, value: Value.self, options: options)
            (verbs, entry) = (.many(cache), cache.entry)
        default:
            let cache = try controller.keyedCache(name, options: options) {
                [weak self] (key: SeedKey) async throws -> Value in
                await Task.yield()
                if let gate = self?.loads.first(where: { $0.entry == firstEntry + key.number })?.gate {
                    await gate.pass()
                }
                return try load(key.number)
            }
            (verbs, entry) = (.many(cache), cache.entry)
        }
        return SeedCache(
            step: step,
            controller: node,
            hasLoader: hasLoader,
            suspends: step.verb == .suspending,
            keys: keys,
            allowed: options.supportedDispositions,
            isWritten: Value.encodesWhenSpilled,
            firstEntry: firstEntry,
            verbs: verbs,
            entry: entry
        )
    }

    // MARK: Time and memory

    /// Lets time pass for all managers, each of which does what it would do in it.
    func watch(for duration: Duration) {
        guard loads.isEmpty else { return }
        let end = clock.now() + duration
        let befores = homes.indices.map(before)
        while clock.now() < end {
            var pause = Duration.seconds(5)
            for home in homes {
                pause = min(pause, home.manager.drive())
                home.manager.driveDeferredWork()
                if let calm = home.manager.driveCleaning() { pause = min(pause, calm) }
            }
            clock.advance(by: min(max(pause, .milliseconds(1)), end - clock.now()))
        }
        for home in homes {
            letTasksEnd(home)
            note("  level \(home.manager.level), freed \(befores[home.number].live - home.live.bytes)")
        }
    }

    /// P10: on an idle machine next to nothing is done.
    private func idle() {
        guard loads.isEmpty else { return }
        let (limit, others) = (memory.limit.load(ordering: .relaxed), memory.others.load(ordering: .relaxed))
        memory.limit.store(16 << 30, ordering: .relaxed)
        memory.others.store(0, ordering: .relaxed)
        watch(for: .seconds(90))
        for home in homes where home.manager.level == .normal {
            let end = clock.now() + .seconds(300)
            var looks = 0
            while clock.now() < end, looks < 1000 {
                let before = pk_thread_allocations()
                let pause = home.manager.drive()
                let allocations = pk_thread_allocations() - before
                if allocations > 0 { complain(.p10, "\(allocations) allocations in a calm look") }
                looks += 1
                clock.advance(by: max(pause, .milliseconds(1)))
            }
            if looks > 61 { complain(.p10, "\(looks) looks in 300 calm seconds") }
        }
        for home in homes { checkDecisions(home) }
        memory.limit.store(limit, ordering: .relaxed)
        memory.others.store(others, ordering: .relaxed)
    }

    private func enterBackground(_ number: Int) {
        guard loads.isEmpty else { return }
        let before = before(number)
        let request = homes[number].manager.backgroundRequest(source: "seed")
        let (report, live) = perform(request, homes[number])
        check(report, number, before, live: live, goal: 0)
    }

    private func enterForeground(_ number: Int) {
        guard loads.isEmpty else { return }
        let manager = homes[number].manager
        let report = try? wait { await manager.enterForeground() }
        note("  restored \(report?.restored.count ?? -1)")
        homes[number].reclaims = max(homes[number].reclaims, manager.context.reclaims.load(ordering: .relaxed))
    }

    // MARK: Disks

    private func slowDisks(_ micros: Int) {
        for home in homes {
            home.disk.clock.withLock { $0 = clock }
            home.disk.latency.store(micros, ordering: .relaxed)
        }
    }

    /// How a disk may fail.
    static func rule(_ number: Int, _ other: Int) -> FaultyFileSystem.Rule {
        let seed = UInt64(number)
        let often = FaultyFileSystem.Occurrence.sometimes(seed: seed, oneIn: 2 + other % 7)
        let once = FaultyFileSystem.Occurrence.once(1 + other % 5)
        let rules: [FaultyFileSystem.Rule] = [
            .init(.error(ENOSPC), on: .write), .init(.error(EIO), on: .write), .init(.error(ENOSPC), on: .write, often),
            .init(.error(EIO), on: .write, often), .init(.error(EIO), on: .write, once),
            .init(.error(EIO), on: .read), .init(.error(EIO), on: .read, often), .init(.error(EIO), on: .read, once),
            .init(.error(EIO), often), .init(.error(EINTR), often), .init(.error(ENOMEM), on: .write, often),
            .init(.short, often), .init(.lyingWrite, on: .write, often), .init(.lyingWrite, on: .write),
            .init(.lostWrite, on: .write, often), .init(.lostWrite, on: .write),
            .init(.wrongWrite, on: .write, often), .init(.wrongWrite, on: .write),
            .init(.bitFlip, on: .read, often), .init(.bitFlip, on: .read, once),
            .init(.lateError(EIO), on: .write, often), .init(.lateError(EIO), on: .write),
            .init(.error(EOPNOTSUPP), on: .punchHole), .init(.error(EIO), on: .punchHole, often),
            .init(.error(EIO), on: .writeback, often), .init(.error(EDQUOT), on: .write),
        ]
        return rules[number % rules.count]
    }

    private func spoil(_ home: Home, _ number: Int, _ other: Int) {
        let rule = Self.rule(number, other)
        heal(home)
        home.disk.faulty.set(rule)
        (home.rule, home.soundSince) = (rule, nil)
        home.wasSpoilt = true
        counts.faults += 1
        note("  \(rule.fault) on \(rule.operation?.rawValue ?? "all"), \(rule.occurrence)")
    }

    func heal(_ home: Home) {
        home.disk.faulty.set(nil)
        home.base.capacity = .mebibytes(64)
        if home.rule != nil || home.soundSince == nil { home.soundSince = clock.now() }
        (home.rule, home.isSmall, home.leftAloneUntil) = (nil, false, nil)
    }

    private func setCapacity(_ home: Home, _ number: Int) {
        let capacities: [ByteCount] = [.mebibytes(64), .kibibytes(16), .kibibytes(64), home.base.usedBytes]
        home.base.capacity = capacities[number % 4]
        home.isSmall = number % 4 != 0
        if home.isSmall { home.soundSince = nil } else if home.rule == nil { home.soundSince = clock.now() }
    }
}
