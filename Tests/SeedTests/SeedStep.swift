/// One step of a run: a verb and some numbers. What a number means is settled when the step is played, by remainder, so
/// that every part of a list of steps is a list of steps.
struct SeedStep: Hashable, Sendable {
    enum Verb: String, CaseIterable, Sendable {
        // What there is.
        case controller, lazy, keyed, suspending
        // Readers and writers.
        case set, update, orMake, read, peek, present, await, invalidate, lease, release, nested, values
        // Loaders.
        case source, fails, slow, callsBack, begin, finish
        // Pressure.
        case warn, reclaim, attempt, twice, others, limit, watch, idle, background, foreground
        // Disks.
        case fault, heal, capacity, writeBack
        // The tree and its hooks.
        case appear, disappear, move, hooks, veto, prefers
        // Processes.
        case save, kill, restore
        // Everything is read, byte by byte, and stays where it is.
        case audit
    }

    var verb: Verb
    var numbers: [Int]

    init(_ verb: Verb, _ numbers: Int...) {
        self.verb = verb
        self.numbers = numbers
    }

    subscript(_ index: Int) -> Int { index < numbers.count ? numbers[index] : 0 }
}

/// What the numbers of some steps mean, for the world and for whoever writes it down.
extension SeedStep {
    /// Below which of the others a controller comes; `nil` for below the root.
    func parent(among siblings: [Int]) -> Int? {
        let place = self[0] % (siblings.count + 1)
        return place == 0 ? nil : siblings[place - 1]
    }

    /// The keys of a cache.
    var keys: Range<Int> { verb == .lazy ? 0..<1 : 0..<(verb == .keyed ? 4 : 3) }

    /// Whether a cache has a loader.
    var hasLoader: Bool { verb == .suspending || self[1] & 1 == 1 }

    /// How many values a cache keeps in memory. Where loaders suspend, a limit is kept to beside the reader, a moment sooner or
    /// later.
    var countLimit: Int? { verb == .keyed ? [nil, nil, 3, 1][self[2] / 4 % 4] : nil }
}

extension SeedStep: CustomStringConvertible {
    var description: String { ([verb.rawValue] + numbers.map(String.init)).joined(separator: " ") }

    /// A step as it is written; `nil` if it is none.
    init?(_ line: some StringProtocol) {
        let words = line.split(separator: " ")
        guard let first = words.first, let verb = Verb(rawValue: String(first)) else { return nil }
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard numbers.count == words.count - 1, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        self.verb = verb
        self.numbers = numbers
    }
}

/// What a run begins with: how its managers are configured.
struct SeedSetting: Hashable, Sendable {
    /// One or two below one limit.
    var managers = 1
    /// KiB that they and others may have together.
    var limit = 512
    /// Index of the compressed tier, the order of eviction, and what becomes of writes past the page cache.
    var tier = 0
    var order = 0
    var direct = 0
    /// Whether what is written in haste is compressed later, whether copies are made ahead, whether the spill file is in
    /// memory, and whether nameless files exist.
    var later = 0
    var ahead = 0
    var memory = 0
    var nameless = 1
    /// Whether there is a server behind a small disk.
    var server = 0

    private static var fields: [(String, WritableKeyPath<SeedSetting, Int>)] {
        [
            ("managers", \.managers), ("limit", \.limit), ("tier", \.tier), ("order", \.order), ("direct", \.direct),
            ("later", \.later), ("ahead", \.ahead), ("memory", \.memory), ("nameless", \.nameless),
            ("server", \.server),
        ]
    }

    /// The setting as it is written.
    var text: String {
        "world " + Self.fields.map { "\($0.0)=\(self[keyPath: $0.1])" }.joined(separator: " ")
    }

    init() {}

    init?(_ line: some StringProtocol) {
        let words = line.split(separator: " ")
        guard words.first == "world" else { return nil }
        for word in words.dropFirst() {
            let parts = word.split(separator: "=")
            guard parts.count == 2, let field = Self.fields.first(where: { $0.0 == parts[0] }),
                let number = Int(parts[1])
            else { return nil }
            self[keyPath: field.1] = number
        }
    }

    /// Simpler ones, each in one respect.
    var simpler: [SeedSetting] {
        let plain = SeedSetting()
        return Self.fields.compactMap { _, path in
            guard self[keyPath: path] != plain[keyPath: path] else { return nil }
            var copy = self
            copy[keyPath: path] = plain[keyPath: path]
            return copy
        }
    }
}

/// A whole run: the setting and the steps, as a seed gives them or a file has them.
struct SeedPlan: Hashable, Sendable {
    var seed: UInt64
    var setting: SeedSetting
    var steps: [SeedStep]

    /// One line each, as `PRESSUREKIT_SEED_SCRIPT` reads them.
    var script: String {
        (["# seed \(seed)", setting.text] + steps.map(\.description)).joined(separator: "\n") + "\n"
    }

    init(seed: UInt64, setting: SeedSetting, steps: [SeedStep]) {
        self.seed = seed
        self.setting = setting
        self.steps = steps
    }

    struct Unreadable: Error {
        var line: Int
        var text: String
    }

    /// - Throws: ``Unreadable`` for the first line that is neither a setting nor a step.
    init(script: String) throws(Unreadable) {
        self.init(seed: 0, setting: SeedSetting(), steps: [])
        for (number, line) in script.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.allSatisfy(\.isWhitespace) || line.hasPrefix("#") { continue }
            if let setting = SeedSetting(line) {
                self.setting = setting
            } else if let step = SeedStep(line) {
                steps.append(step)
            } else {
                throw Unreadable(line: number + 1, text: String(line))
            }
        }
    }
}
