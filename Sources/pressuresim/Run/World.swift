import Foundation
import PressureKit

/// The scenario's controllers and caches, made real and put below a manager's root.
final class World: Sendable {
    let controllers: [PressureController]
    let caches: [any SimulatedCache]
    /// Whether loaders cost and fail as the scenario says.
    let loadersAct: ActiveFlag

    /// The bytes of all values.
    var byteCount: Int { caches.reduce(0) { $0 + $1.byteCount } }

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
        loadersAct = builder.loadersAct
    }

    /// The caches whose paths match, in the order of the scenario.
    func caches(_ glob: PathGlob) -> [any SimulatedCache] { caches.filter { glob.matches($0.path) } }

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
                if spec.isVisible(index: index) { controller.appear() }
                return controller
            }
            controllers += nodes
            for cache in spec.caches { try add(cache, to: nodes, progress: progress) }
            for node in nodes { try add(spec.children, to: node, progress: progress) }
        }
    }

    /// Adds a cache to each of some controllers that are alike: their values are all different.
    private mutating func add(_ spec: CacheSpec, to nodes: [PressureController], progress: (Int) throws -> Void) throws
    {
        stream += 1
        let names = spec.names
        let sizes = sizes(spec, count: nodes.count * names.count)
        let source = try source(spec.content, sizes: sizes)
        let loader = spec.loader.map {
            SimulatedLoader($0, seed: scenario.seed, stream: stream, isActive: loadersAct, pace: pace)
        }
        for (nodeIndex, node) in nodes.enumerated() {
            for (nameIndex, name) in names.enumerated() {
                let index = nodeIndex * names.count + nameIndex
                let recipe = ValueRecipe(
                    source: source,
                    index: index,
                    byteCount: sizes[index],
                    seed: scenario.seed &+ stream,
                    pace: pace
                )
                let cache: any SimulatedCache =
                    switch spec.storage {
                    case .pages: try HeldCache<PageBuffer>(name, at: node, recipe: recipe, loader: loader, saved: saved)
                    case .array: try HeldCache<[UInt8]>(name, at: node, recipe: recipe, loader: loader, saved: saved)
                    }
                caches.append(cache)
                try progress(caches.count)
            }
        }
    }

    /// Log-uniform sizes: small values are more frequent than large ones, as they are in applications.
    private func sizes(_ spec: CacheSpec, count: Int) -> [Int] {
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
