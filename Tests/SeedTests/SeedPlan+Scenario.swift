import Glibc

@testable import PressureKitTesting

/// A run as a scenario for `pressuresim run`: the same tree and the same steps on a real disk, as far as the language of scenarios
/// has words for them. What it has none for is listed at its head: which call of a disk fails, what a value lies about.
extension SeedPlan {
    var scenario: String {
        var writer = ScenarioWriter(setting)
        for step in steps { writer.play(step) }
        return writer.text(seed: seed)
    }
}

/// Follows a run as far as names, sizes and steps go.
private struct ScenarioWriter {
    struct Node {
        var home: Int
        var parent: Int?
        var children: [Int] = []
    }

    struct Cache {
        var path: String
        var hasLoader: Bool
        /// Its line without the sizes of its values, which are known when they are set.
        var line: String
        var node: Int
        var entries: Range<Int>
    }

    let setting: SeedSetting
    var nodes: [Node] = []
    var caches: [Cache] = []
    /// The cache of each value, its first version, and whether it was set.
    var entries: [(cache: Int, version: Int64, isSet: Bool)] = []
    var version: Int64 = 0
    var timeline: [String] = []
    /// Whether writes fail, or some.
    var isBroken = false
    var leftOut: [SeedStep.Verb: Int] = [:]

    init(_ setting: SeedSetting) { self.setting = setting }

    mutating func play(_ step: SeedStep) {
        switch step.verb {
        case .controller: addController(step)
        case .lazy, .keyed, .suspending: addCache(step)
        default:
            guard let lines = lines(step) else { return leftOut[step.verb, default: 0] += 1 }
            timeline += lines
        }
    }

    // MARK: The tree

    private mutating func addController(_ step: SeedStep) {
        let home = step[1] % setting.managers
        let parent = step.parent(among: nodes.indices.filter { nodes[$0].home == home })
        if let parent { nodes[parent].children.append(nodes.count) }
        nodes.append(Node(home: home, parent: parent))
    }

    private mutating func addCache(_ step: SeedStep) {
        guard !nodes.isEmpty else { return }
        let node = step[0] % nodes.count
        let count = step.keys.count
        var options = ["name: c\(caches.count)"]
        if step.verb != .lazy {
            var keyed = ["keys: \(count)"]
            // Its values are as large as they are, and a limit must hold the largest.
            if let most = step.countLimit { keyed.append("count_limit: \(most)") }
            options.append("keyed: {\(keyed.joined(separator: ", "))}")
        }
        options.append(step.hasLoader ? "loader: {cost: 1ms}" : "loader: none")
        caches.append(
            Cache(
                path: path(node) + "/c\(caches.count)",
                hasLoader: step.hasLoader,
                line: options.joined(separator: ", "),
                node: node,
                entries: entries.count..<entries.count + count
            )
        )
        entries += Array(repeating: (cache: caches.count - 1, version: 0, isSet: false), count: count)
    }

    private func path(_ node: Int) -> String {
        (nodes[node].parent.map { path($0) + "/" } ?? "") + "n\(node)"
    }

    // MARK: The steps

    /// A step in the words of scenarios; none for what is so from the beginning, and `nil` for what has no words.
    private mutating func lines(_ step: SeedStep) -> [String]? {
        let (a, b, c) = (step[0], step[1], step[2])
        switch step.verb {
        case .set, .update: return write(a)
        case .read, .await, .lease: return access(a).map { [$0] }
        case .nested: return access(a).map { ["together: [{\($0)}, {warning: critical}]"] }
        case .values: return caches.isEmpty ? nil : ["access: {of: \"**\"}"]
        case .warn: return ["warning: \(b % 3 == 0 ? "critical" : "warning")"]
        case .reclaim: return [warning(freeing: 1 + b * b % 60_000)]
        case .twice: return ["together: [{\(warning(freeing: 1 + b * 7))}, {\(warning(freeing: 1 + c * 500))}]"]
        case .watch: return ["wait: \(20 + b * b / 400)ms"]
        case .idle: return ["calm: 100ms"]
        case .background, .foreground, .audit: return [step.verb == .audit ? "verify" : step.verb.rawValue]
        case .fault: return Self.disk(SeedWorld.rule(b, c)).map { disk($0) }
        case .heal: return disk("normal")
        case .capacity: return b % 4 == 0 ? disk("normal") : b % 4 == 3 ? disk("full") : nil
        case .appear, .disappear:
            return nodes.isEmpty ? nil : ["\(step.verb == .appear ? "show" : "hide"): \(path(a % nodes.count))"]
        // A scenario that cannot save its state ends there.
        case .restore: return (isBroken ? disk("normal") : []) + ["relaunch"]
        default: return nil
        }
    }

    private mutating func write(_ number: Int) -> [String]? {
        guard !entries.isEmpty else { return nil }
        let (entry, cache) = (number % entries.count, entries[number % entries.count].cache)
        version += 1
        guard !caches[cache].hasLoader else { return nil }
        if !entries[entry].isSet {
            (entries[entry].version, entries[entry].isSet) = (version, true)
            return []
        }
        return ["update: {of: \(caches[cache].path), pattern: uniform, count: 1}"]
    }

    private func access(_ number: Int) -> String? {
        guard !entries.isEmpty else { return nil }
        return "access: {of: \(caches[entries[number % entries.count].cache].path), pattern: uniform, count: 1}"
    }

    private mutating func disk(_ state: String) -> [String] {
        isBroken = state != "normal"
        return ["disk: \(state)"]
    }

    private func warning(freeing bytes: Int) -> String { "warning: {level: warning, freeing: \(bytes)B}" }

    /// A disk on which writes fail; `nil` for one that fails otherwise.
    private static func disk(_ rule: FaultyFileSystem.Rule) -> String? {
        guard case .error(let code) = rule.fault, rule.operation == .write else { return nil }
        switch rule.occurrence {
        case .from(1): return [ENOSPC, EDQUOT].contains(code) ? "full" : "{failing: 100%}"
        case .sometimes(_, let count): return "{failing: \(100 / count)%}"
        default: return nil
        }
    }

    // MARK: The text

    func text(seed: UInt64) -> String {
        var lines = ["# Made of a run of the seed tests."]
        if !leftOut.isEmpty {
            let words = leftOut.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue) (\($0.value))" }
            lines.append("# Left out, for want of words: \(words.joined(separator: ", ")).")
        }
        lines += ["name: Seed \(seed)", "seed: \(seed % (1 << 62))"]
        lines.append("spill: {compress_later: \(setting.later == 1)}")
        lines.append("policy: \(["cost", "lru", "sieve", "largest"][setting.order & 3])")
        lines.append("controllers:")
        let roots = nodes.indices.filter { nodes[$0].parent == nil }
        lines += roots.isEmpty ? ["  - name: n0"] : roots.flatMap { controller($0, indent: "  ") }
        lines += ["timeline:"] + (timeline + ["verify"]).map { "  - \($0)" }
        lines += ["expect:", "  lost: == 0"]
        return lines.joined(separator: "\n") + "\n"
    }

    private func controller(_ node: Int, indent: String) -> [String] {
        let own = caches.filter { $0.node == node }
        let children = nodes[node].children
        var lines = ["\(indent)- name: n\(node)"]
        if !own.isEmpty {
            lines += ["\(indent)  caches:"]
            lines += own.map { "\(indent)    - {\($0.line), size: \(sizes($0)), content: \(content($0))}" }
        }
        if !children.isEmpty {
            lines += ["\(indent)  children:"] + children.flatMap { controller($0, indent: indent + "    ") }
        }
        return lines
    }

    private func contents(_ cache: Cache) -> [SeedContent] {
        cache.entries.map { SeedContent(home: 0, owner: Int32($0), version: entries[$0].version, lie: .none) }
    }

    private func sizes(_ cache: Cache) -> String {
        let sizes = contents(cache).map(\.byteCount)
        let (least, most) = (sizes.min() ?? 32, sizes.max() ?? 32)
        return least == most ? "\(most)B" : "\(least)B to \(most)B"
    }

    /// What the values of `SeedBlock` have: all bits at random in each third version.
    private func content(_ cache: Cache) -> String {
        let isNoise = contents(cache).allSatisfy { $0.version % 3 == 0 }
        return "{synthetic: {compressibility: \(isNoise ? 0 : 60)%}}"
    }
}
