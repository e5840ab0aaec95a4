/// Every path in a scenario.
struct ScenarioPlaces: Sendable {
    /// A cache, of one value or of many.
    struct Cache: Sendable {
        var path: String
        var hasLoader: Bool
        /// How many keys it has; `nil` for one of a single value.
        var keys: Int?

        /// Whether a pattern with a key in it, such as `tiles[1*]`, matches a value of this cache.
        func isMatched(by glob: PathGlob) -> Bool {
            guard let keys, glob.hasKey else { return false }
            return (1...keys).contains { glob.matches("\(path)[\($0)]") }
        }
    }

    private(set) var caches: [Cache] = []
    /// Those in the tree.
    private(set) var controllers: [String] = []
    /// Those that are in the tree while they are presented.
    private(set) var presented: [String] = []

    init(_ specs: [ControllerSpec]) { add(specs, below: "", arePresented: false) }

    private mutating func add(_ specs: [ControllerSpec], below parent: String, arePresented: Bool) {
        for spec in specs {
            for name in spec.names {
                let path = parent + name
                if arePresented { presented.append(path) } else { controllers.append(path) }
                for cache in spec.caches {
                    caches += cache.names.map {
                        Cache(path: "\(path)/\($0)", hasLoader: cache.loader != nil, keys: cache.keyed?.keys)
                    }
                }
                add(spec.children, below: path + "/", arePresented: false)
                add(spec.presents, below: path + "/", arePresented: true)
            }
        }
    }

    /// The path above; empty for one at the top.
    static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }
}
