#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Random trees and random sequences of all operations, held against a small model of UIKit's rules.
@Suite(.timeLimit(.minutes(15))) struct LifeCycleWalkTests {
    /// What UIKit would say of one controller.
    private struct Model {
        enum Phase { case hidden, appearing, visible, disappearing }
        var parent: Int?
        var children: [Int] = []
        var presenter: Int?
        var presented: Int?
        var phase = Phase.hidden
        var forwards = true
        /// Whether it comes to be seen when the background ends, as far as somebody asked meanwhile.
        var wants: Bool?

        var isAppearing: Bool { phase == .appearing || phase == .visible }
    }

    /// The model of a whole tree, with number 0 as its root; it writes down the hooks it expects.
    private struct Tree {
        var nodes: [Model]
        var lines: [String] = []
        var isSuspended = false

        init(count: Int) { nodes = Array(repeating: Model(), count: count) }

        private mutating func say(_ node: Int, _ hook: String) { if node > 0 { lines.append("\(node).\(hook)") } }

        func superior(_ node: Int) -> Int? { nodes[node].parent ?? nodes[node].presenter }

        func isAbove(_ node: Int, _ other: Int) -> Bool {
            var next: Int? = other
            while let at = next {
                if at == node { return true }
                next = superior(at)
            }
            return false
        }

        func isInTree(_ node: Int) -> Bool { isAbove(0, node) }

        /// Whether its manager is in the background.
        func isAsleep(_ node: Int) -> Bool { isSuspended && isInTree(node) }

        // MARK: Appearance

        mutating func begin(_ node: Int, _ appears: Bool, _ begun: inout [Int]) {
            if let presented = nodes[node].presented { return begin(presented, appears, &begun) }
            beginOne(node, appears, &begun)
            guard nodes[node].forwards else { return }
            for child in nodes[node].children { begin(child, appears, &begun) }
        }

        mutating func beginOne(_ node: Int, _ appears: Bool, _ begun: inout [Int]) {
            guard nodes[node].isAppearing != appears else { return }
            nodes[node].phase = appears ? .appearing : .disappearing
            say(node, appears ? "willAppear" : "willDisappear")
            begun.append(node)
        }

        mutating func end(_ begun: [Int]) {
            for node in begun {
                switch nodes[node].phase {
                case .appearing:
                    nodes[node].phase = .visible
                    say(node, "didAppear")
                case .disappearing:
                    nodes[node].phase = .hidden
                    say(node, "didDisappear")
                case .hidden, .visible: break
                }
            }
        }

        /// All that `end` by hand reaches.
        func scope(_ node: Int) -> [Int] {
            if let presented = nodes[node].presented { return scope(presented) }
            return [node] + (nodes[node].forwards ? nodes[node].children.flatMap { scope($0) } : [])
        }

        mutating func change(_ node: Int, _ appears: Bool) {
            if isAsleep(node) {
                for one in scope(node) { nodes[one].wants = appears }
                return
            }
            var begun: [Int] = []
            begin(node, appears, &begun)
            end(begun)
        }

        mutating func resume() {
            for appears in [false, true] {
                var begun: [Int] = []
                for node in below(0) where nodes[node].wants == appears {
                    nodes[node].wants = nil
                    if nodes[node].isAppearing == appears {
                        begun.append(node)
                    } else {
                        beginOne(node, appears, &begun)
                    }
                }
                end(begun)
            }
        }

        /// A subtree, parents before children.
        func below(_ node: Int) -> [Int] {
            [node] + nodes[node].children.flatMap { below($0) } + (nodes[node].presented.map { below($0) } ?? [])
        }

        // MARK: Structure

        func canAdd(_ child: Int, to parent: Int, moving: Bool = false) -> Bool {
            child != 0 && nodes[child].presenter == nil && (moving || nodes[child].parent == nil)
                && !isAbove(child, parent)
        }

        mutating func add(_ child: Int, to parent: Int) {
            say(child, "willMove \(parent == 0 ? "" : "\(parent)")")
            leave(child)
            nodes[child].parent = parent
            nodes[parent].children.append(child)
            say(child, "didMove \(parent == 0 ? "" : "\(parent)")")
        }

        mutating func leave(_ child: Int) {
            guard let parent = nodes[child].parent else { return }
            nodes[parent].children.removeAll { $0 == child }
            nodes[child].parent = nil
        }

        mutating func present(_ sheet: Int, on node: Int) {
            let wasSeen = nodes[node].wants ?? nodes[node].isAppearing
            var begun: [Int] = []
            if isAsleep(node) { change(node, false) } else { begin(node, false, &begun) }
            nodes[sheet].presenter = node
            nodes[node].presented = sheet
            if wasSeen { change(sheet, true) }
            end(begun)
        }

        mutating func dismiss(_ node: Int) {
            guard let sheet = nodes[node].presented else {
                if let presenter = nodes[node].presenter { dismiss(presenter) }
                return
            }
            var top = sheet
            while let next = nodes[top].presented { top = next }
            let wasSeen = nodes[top].wants ?? nodes[top].isAppearing
            let asleep = isAsleep(node)
            var begun: [Int] = []
            if asleep { nodes[top].wants = nil } else { begin(top, false, &begun) }
            nodes[node].presented = nil
            nodes[sheet].presenter = nil
            if wasSeen { change(node, true) }
            end(begun)
            if asleep { hide(top) }
        }

        private mutating func hide(_ node: Int) {
            nodes[node].phase = .hidden
            for child in nodes[node].children { hide(child) }
        }
    }

    @Test(arguments: 0..<12)
    func everyStepIsAsUIKitWouldHaveIt(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: 1000 + seed)
        let count = Int.random(in: 3...9, using: &random)
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let lines = HookLog.Lines()
        let controllers = [manager.root] + (1..<count).map { PressureController("\($0)") }
        let logs = (1..<count).map { HookLog("\($0)", lines) }
        for (controller, log) in zip(controllers.dropFirst(), logs) { controller.delegate = log }
        var model = Tree(count: count)
        var refusals = 0
        for step in 0..<400 {
            let (a, b) = (Int.random(in: 0..<count, using: &random), Int.random(in: 0..<count, using: &random))
            let operation = Int.random(in: 0..<13, using: &random)
            let context: Comment = "seed \(seed), step \(step): operation \(operation) of \(a) and \(b)"
            model.lines = []
            /// Expects an error exactly if the model says so.
            func attempt(_ isLegal: Bool, _ body: () throws -> Void) {
                do {
                    try body()
                    #expect(isLegal, context)
                } catch {
                    refusals += 1
                    #expect(!isLegal, context)
                    #expect((error as? PressureError)?.code == .hierarchyInconsistency, context)
                }
            }
            switch operation {
            case 0, 1, 2:
                let isLegal = model.canAdd(a, to: b)
                attempt(isLegal) { try controllers[b].addChild(controllers[a]) }
                if isLegal { model.add(a, to: b) }
            case 3:
                controllers[a].removeFromParent()
                if model.nodes[a].parent != nil {
                    model.lines.append("\(a).willMove nil")
                    model.leave(a)
                    model.lines.append("\(a).didMove nil")
                }
            case 4:
                let isLegal = model.canAdd(a, to: b, moving: true)
                let isSame = model.nodes[a].parent == b
                attempt(isLegal || isSame) { try controllers[a].move(to: controllers[b]) }
                if isLegal, !isSame { model.add(a, to: b) }
            case 5, 6:
                controllers[a].appear()
                model.change(a, true)
            case 7:
                controllers[a].disappear()
                model.change(a, false)
            case 8:
                let appears = Bool.random(using: &random)
                controllers[a].beginAppearanceTransition(isAppearing: appears)
                var begun: [Int] = []
                if model.isAsleep(a) { model.change(a, appears) } else { model.begin(a, appears, &begun) }
            case 9:
                controllers[a].endAppearanceTransition()
                if !model.isAsleep(a) { model.end(model.scope(a)) }
            case 10:
                controllers[a].forwardsAppearance.toggle()
                model.nodes[a].forwards.toggle()
            case 11:
                if Bool.random(using: &random) {
                    let isLegal = model.nodes[b].presented == nil && model.canAdd(a, to: b)
                    attempt(isLegal) { try controllers[b].present(controllers[a]) }
                    if isLegal { model.present(a, on: b) }
                } else {
                    controllers[a].dismiss()
                    model.dismiss(a)
                }
            default:
                guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
                if model.isSuspended {
                    _ = await manager.enterForeground()
                    model.isSuspended = false
                    model.resume()
                } else {
                    _ = await manager.enterBackground()
                    model.isSuspended = true
                }
            }
            let told = lines.take()
            #expect(told == model.lines, context)
            // One is enough: what follows would only be its consequences.
            guard told == model.lines else { return }
            for (number, node) in model.nodes.enumerated() {
                let controller = controllers[number]
                #expect(controller.isVisible == (node.phase != .hidden), context)
                #expect(controller.parent === node.parent.map { controllers[$0] }, context)
                #expect(controller.presented === node.presented.map { controllers[$0] }, context)
                #expect(controller.children.elementsEqual(node.children) { $0 === controllers[$1] }, context)
            }
        }
        #expect(refusals > 0, "seed \(seed): nothing was ever refused")
        withExtendedLifetime(logs) {}
    }

    /// Values below a tree that is changed at random: whatever happens, none is lost, and what a warning evicts is what is
    /// in the tree and not in use.
    @Test(arguments: 0..<6)
    func valuesSurviveEverything(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: 5000 + seed)
        // What appears is restored ahead, at some moment: here every moment counts.
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.restoresAhead = false }
        let controllers = [manager.root] + (1..<8).map { PressureController("\($0)") }
        let caches = try controllers.enumerated().map { number, controller in
            try controller.cache("x", initialValue: makeBytes(2000, seed: UInt64(number)))
        }
        for step in 0..<300 {
            let (a, b) = (Int.random(in: 1..<8, using: &random), Int.random(in: 0..<8, using: &random))
            let context: Comment = "seed \(seed), step \(step)"
            switch Int.random(in: 0..<8, using: &random) {
            case 0: try? controllers[b].addChild(controllers[a])
            case 1: try? controllers[a].move(to: controllers[b])
            case 2: controllers[a].removeFromParent()
            case 3: try? controllers[b].present(controllers[a])
            case 4: controllers[a].dismiss()
            case 5: if Bool.random(using: &random) { controllers[a].appear() } else { controllers[a].disappear() }
            case 6: controllers[a].budget = Bool.random(using: &random) ? .bytes(3000) : nil
            default:
                let lease = Bool.random(using: &random) ? try await caches[a].lease() : nil
                _ = await manager.simulateMemoryWarning(.critical)
                for (number, controller) in controllers.enumerated() {
                    let isPinned = number == a && lease != nil
                    let isInTree = controller.context != nil
                    if isInTree { #expect(caches[number].isLoaded == isPinned, context) }
                }
                _ = consume lease
            }
            for number in [a, b] {
                #expect(try caches[number].withValue { $0 == makeBytes(2000, seed: UInt64(number)) }, context)
            }
        }
        for (number, cache) in caches.enumerated() {
            #expect(try await cache.value() == makeBytes(2000, seed: UInt64(number)), "seed \(seed)")
        }
    }
}
#endif
