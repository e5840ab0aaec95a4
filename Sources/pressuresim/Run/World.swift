import Foundation
import PressureKit
import SampleContent
import ScenarioLanguage

/// The scenario's controllers and caches, made real and put below a manager's root.
final class World: Sendable {
    let controllers: [PressureController]
    let caches: [any SimulatedCache]
    /// What may be presented, by its path, with what presents it.
    let sheets: [String: Sheet]
    /// Whether loaders cost and fail as the scenario says.
    let loadersAct: ActiveFlag

    /// The bytes of all values.
    var byteCount: Int { caches.reduce(0) { $0 + $1.byteCount } }

    /// What has left the memory of all caches so far.
    var outflow: CacheOutflow { outflow { _ in "" }[""] ?? CacheOutflow() }

    /// The same of caches that are alike.
    func outflow(by kind: (String) -> String) -> [String: CacheOutflow] {
        var sums: [String: CacheOutflow] = [:]
        var last: Substring?
        // The many values of a keyed cache follow each other.
        for cache in caches where cache.address != last {
            sums[kind(String(cache.address)), default: CacheOutflow()] += cache.outflow
            last = cache.address
        }
        return sums
    }

    /// Builds the tree. Values without a loader are made at once, unless they were `saved` by an earlier life, and
    /// `progress` is told how many there are yet.
    ///
    /// - Throws: ``ContentError`` when content is not to be had; `PressureError` from the library; what `progress` throws.
    init(
        _ scenario: Scenario,
        file: String,
        root: PressureController,
        pace: any Pace = RealPace(),
        saved: ((_ path: String) -> Int)? = nil,
        progress: (_ made: Int) throws -> Void = { _ in }
    ) throws {
        var builder = WorldBuilder(scenario: scenario, file: file, pace: pace, saved: saved)
        try builder.add(scenario.controllers, to: root, progress: progress)
        controllers = builder.controllers
        caches = builder.caches
        sheets = builder.sheets
        loadersAct = builder.loadersAct
    }

    /// The caches whose paths match, in the order of the scenario.
    func caches(_ glob: PathGlob) -> [any SimulatedCache] {
        // The many values of a keyed cache follow each other and are matched, or not, by the path of it.
        var last: (address: Substring, isMatch: Bool)?
        return caches.filter { cache in
            let address = cache.address
            if last?.address != address { last = (address, glob.matches(String(address))) }
            return last?.isMatch ?? false || (glob.hasKey && glob.matches(cache.path))
        }
    }

    /// The controllers whose paths match, in the order of the scenario.
    func controllers(_ glob: PathGlob) -> [PressureController] { controllers.filter { glob.matches($0.path) } }
}

/// Builds a ``World``.
private struct WorldBuilder {
    let scenario: Scenario
    let file: String
    let pace: any Pace
    /// The versions of values that an earlier life left.
    let saved: ((_ path: String) -> Int)?
    let loadersAct = ActiveFlag()
    var controllers: [PressureController] = []
    var caches: [any SimulatedCache] = []
    var sheets: [String: World.Sheet] = [:]
    /// Tells the random streams of the caches apart.
    private var stream: UInt64 = 1 << 32

    init(scenario: Scenario, file: String, pace: any Pace, saved: ((_ path: String) -> Int)?) {
        self.scenario = scenario
        self.file = file
        self.pace = pace
        self.saved = saved
    }

    mutating func add(
        _ specs: [ControllerSpec],
        to parent: PressureController,
        progress: (Int) throws -> Void
    ) throws {
        for spec in specs {
            let nodes = try spec.names.enumerated().map { index, name in
                let controller = PressureController(name)
                // Each controller of a scenario is as visible as it says itself.
                controller.forwardsAppearance = false
                try parent.addChild(controller)
                for sheet in spec.presents { try add(sheet, presentedBy: controller, progress: progress) }
                if spec.isVisible(index: index) { controller.appear() }
                return controller
            }
            controllers += nodes
            for cache in spec.caches { try add(cache, to: nodes, progress: progress) }
            for node in nodes { try add(spec.children, to: node, progress: progress) }
        }
    }

    /// Adds a controller that is in the tree while it is presented. It is now, so that its caches get their paths; its
    /// presenter is hidden still, so nobody is told.
    private mutating func add(
        _ spec: ControllerSpec,
        presentedBy presenter: PressureController,
        progress: (Int) throws -> Void
    ) throws {
        let sheet = PressureController(spec.name.value)
        sheet.forwardsAppearance = false
        try presenter.present(sheet)
        sheets[sheet.path] = World.Sheet(controller: sheet, presenter: presenter)
        for nested in spec.presents { try add(nested, presentedBy: sheet, progress: progress) }
        for cache in spec.caches { try add(cache, to: [sheet], progress: progress) }
        try add(spec.children, to: sheet, progress: progress)
        presenter.dismiss()
    }

    /// Adds a cache to each of some controllers that are alike: their values are all different.
    private mutating func add(_ spec: CacheSpec, to nodes: [PressureController], progress: (Int) throws -> Void) throws
    {
        stream += 1
        let names = spec.names
        let keys = spec.keyed?.keys ?? 1
        let sizes = sizes(spec, count: nodes.count * names.count * keys)
        let source = try source(spec.content, sizes: sizes)
        let loader = spec.loader.map {
            SimulatedLoader($0, seed: scenario.seed, stream: stream, isActive: loadersAct, pace: pace)
        }
        let places = nodes.flatMap { node in names.map { (node, $0) } }
        for (number, (node, name)) in places.enumerated() {
            let recipes = (number * keys..<(number + 1) * keys).map { index in
                ValueRecipe(
                    source: source,
                    index: index,
                    byteCount: sizes[index],
                    cost: spec.loader.flatMap { index < $0.costs.count ? $0.costs[index] : nil },
                    seed: scenario.seed &+ stream,
                    pace: pace
                )
            }
            switch spec.storage {
            case .pages: caches += try make(PageBuffer.self, spec.keyed, name, at: node, recipes, loader)
            case .array: caches += try make([UInt8].self, spec.keyed, name, at: node, recipes, loader)
            }
            try progress(caches.count)
        }
    }

    private func make<Value: HeldBytes>(
        _ type: Value.Type,
        _ keyed: KeyedSpec?,
        _ name: String,
        at node: PressureController,
        _ recipes: [ValueRecipe],
        _ loader: SimulatedLoader?
    ) throws -> [any SimulatedCache] {
        guard let keyed else {
            return try recipes.map {
                try HeldCache<Value>(name, at: node, recipe: $0, loader: loader, saved: saved)
            }
        }
        return try KeyedCaches(spec: keyed, name: name, controller: node, loader: loader, saved: saved)
            .make(type, recipes: recipes)
    }

    /// Log-uniform sizes: small values are more frequent than large ones, as they are in applications.
    private func sizes(_ spec: CacheSpec, count: Int) -> [Int] {
        guard spec.sizes.isEmpty else { return spec.sizes.map(\.bytes) }
        let low = Double(spec.size.lowerBound.bytes)
        let high = Double(spec.size.upperBound.bytes)
        var random = SplitMix64(seed: scenario.seed, stream: stream)
        return (0..<count).map { _ in Int((low * pow(high / low, random.unit())).rounded()) }
    }

    private func source(_ content: ContentSpec, sizes: [Int]) throws -> any ContentSource {
        let seed = scenario.seed &+ stream
        switch content {
        case .synthetic(let compressibility):
            return SyntheticContent(compressibility: compressibility, seed: seed)
        case .text:
            return TextContent(seed: seed)
        case .files(let source):
            let directories =
                switch source {
                case .defaultCorpus: DefaultCorpus.directories()
                case .directory(let directory): [ScenarioPaths.resolve(directory, from: file)]
                }
            let corpus = try FileCorpus(directories: directories, wanted: sizes.reduce(0, +))
            return FileContent(corpus: corpus, sizes: sizes)
        }
    }
}
