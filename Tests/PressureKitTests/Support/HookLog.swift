import PressureKit

/// A delegate that writes down what it is told.
final class HookLog: PressureControllerDelegate, PressureManagerDelegate {
    /// Lines such as `"a.willAppear"`, of all delegates that share it.
    final class Lines: Sendable {
        private let lines = Lock<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        func clear() { lines.withLock { $0 = [] } }
    }

    private let name: String
    private let lines: Lines

    init(_ name: String, _ lines: Lines) {
        self.name = name
        self.lines = lines
    }

    private func note(_ hook: String) { lines.add("\(name).\(hook)") }

    func didReceiveMemoryWarning(_ warning: MemoryWarning) { note("warning \(warning.level)") }
    func resourceDidLoad(_ resource: PressureResource) { note("didLoad \(resource.name)") }
    func resourceWillEvict(_ resource: PressureResource) { note("willEvict \(resource.name)") }
    func resourceDidEvict(_ resource: PressureResource) { note("didEvict \(resource.name)") }
    func resourceDidRestore(_ resource: PressureResource) { note("didRestore \(resource.name)") }
    func willAppear() { note("willAppear") }
    func didAppear() { note("didAppear") }
    func willDisappear() { note("willDisappear") }
    func didDisappear() { note("didDisappear") }
    func willMove(toParent parent: PressureController?) { note("willMove \(parent?.identifier ?? "nil")") }
    func didMove(toParent parent: PressureController?) { note("didMove \(parent?.identifier ?? "nil")") }
    func managerDidReceiveMemoryWarning(_ warning: MemoryWarning) { note("warning \(warning.level)") }
    func managerDidChangeLevel(_ cause: PressureCause) { note("level \(cause.levelAfter)") }
    func managerDidEnterBackground() { note("background") }
    func managerWillEnterForeground() { note("foreground") }
}
