#if Redis
/// What the keys of one saved state are called.
///
/// | key | what |
/// |---|---|
/// | `pk:state:{name}` | the record: which generation is the state (``RedisStateRecord``); missing before the first |
/// | `pk:state:{name}:lock` | who saves or restores it, or has values whose copies are in it |
/// | `pk:state:{name}:…:0`, `…:1` | the bytes of a generation, cut into strings |
///
/// The part in braces is what a cluster chooses the node by, so that all of them are on one.
package struct RedisStateKeys: Hashable, Sendable {
    /// What all keys begin with.
    package let prefix: String
    /// What the app calls the state.
    package let name: String

    package init(prefix: String, name: String) {
        self.prefix = prefix
        self.name = name
    }

    /// Which of a state's keys one is.
    package enum Part: Hashable, Sendable {
        case record, lock
        case segment(generation: String)
    }

    /// A hash that says which generation is the state. Put in the place of the one before in one step.
    package var record: String { "\(prefix):state:{\(name)}" }

    /// Who has the state, as long as its lease lasts.
    package var lock: String { "\(record):lock" }

    /// The key of a string of bytes.
    package func segment(_ number: Int, of generation: String) -> String { "\(record):\(generation):\(number)" }

    /// The keys of a whole generation of `count` strings.
    func segments(of generation: String, count: Int) -> [String] { (0..<count).map { segment($0, of: generation) } }

    /// A generation unlike any other.
    static func newGeneration() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }

    /// What matches the keys of all states in SCAN.
    package static func pattern(prefix: String) -> String { "\(prefix):state:{*}*" }

    /// The state that a key belongs to, and which of its keys it is; `nil` for other keys.
    package static func parse(_ key: String, prefix: String) -> (keys: RedisStateKeys, part: Part)? {
        let start = "\(prefix):state:{"
        guard key.hasPrefix(start), let end = key.lastIndex(of: "}") else { return nil }
        let first = key.index(key.startIndex, offsetBy: start.count)
        guard first < end else { return nil }
        let keys = RedisStateKeys(prefix: prefix, name: String(key[first..<end]))
        let rest = key[key.index(after: end)...]
        if rest.isEmpty { return (keys, .record) }
        if rest == ":lock" { return (keys, .lock) }
        let words = rest.split(separator: ":", omittingEmptySubsequences: false)
        guard words.count == 3, words[0].isEmpty, !words[1].isEmpty, UInt32(words[2]) != nil else { return nil }
        return (keys, .segment(generation: String(words[1])))
    }
}
#endif
