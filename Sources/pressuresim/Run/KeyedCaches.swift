import PressureKit
import SampleContent
import ScenarioLanguage

/// Makes the values of a keyed cache, each a ``SimulatedCache`` with a path such as `"server/thumbnails[17]"`.
struct KeyedCaches {
    var spec: KeyedSpec
    var name: String
    var controller: PressureController
    var loader: SimulatedLoader?
    /// The versions of values that an earlier life left.
    var saved: ((_ path: String) -> Int)?

    /// Registers the cache. `recipes` has one for each key, which count from 1.
    ///
    /// - Throws: what making a value throws.
    func make<Value: HeldBytes>(_ type: Value.Type, recipes: [ValueRecipe]) throws -> [any SimulatedCache] {
        let cache: KeyedCache<Int, Value>
        if let loader {
            cache = try controller.keyedCache(name, options: .init(limit: spec.limit, countLimit: spec.countLimit)) {
                (key: Int) in
                let recipe = recipes[key - 1]
                return try loader.load(recipe.byteCount, cost: recipe.cost) {
                    try Value.make(byteCount: recipe.byteCount) { try recipe.write(&$0, version: 0) }
                }
            }
        } else {
            cache = try controller.keyedCache(
                name,
                key: Int.self,
                value: Value.self,
                options: .init(limit: spec.limit, countLimit: spec.countLimit)
            )
        }
        return try recipes.enumerated().map { index, recipe in
            let key = index + 1
            let path = "\(cache.path)[\(key)]"
            let version = saved?(path) ?? 0
            let value = try Value.make(byteCount: recipe.byteCount) { try recipe.write(&$0, version: version) }
            let held = HeldCache(
                KeyedPlace(cache: cache, key: key),
                path: path,
                recipe: recipe,
                hasLoader: loader != nil,
                version: version,
                hash: value.read { XXHash64.hash($0) }
            )
            // Those of an earlier life are there when its state is restored.
            if loader == nil, saved == nil { cache.set(value, for: key) }
            return held
        }
    }
}

extension SimulatedCache {
    /// The path of the cache that the value is in: its own, or without the key of a keyed one.
    var address: Substring { path.hasSuffix("]") ? path.prefix { $0 != "[" } : path[...] }
}
