import PressureKit

/// A delegate that writes down what it is told.
final class HookLog: PressureControllerDelegate, PressureManagerDelegate {
    /// Lines such as `"a.willAppear"`, of all delegates that share it.
    final class Lines: Sendable {
        private let lines = Lock<[String]>([])
        private let reactions = Lock<[String: @Sendable () -> Void]>([:])
        var all: [String] { lines.withLock { $0 } }
        func clear() { lines.withLock { $0 = [] } }

        func add(_ line: String) {
            lines.withLock { $0.append(line) }
            reactions.withLock { $0.removeValue(forKey: line) }?()
        }

        /// All lines, which are forgotten.
        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }

        /// Calls `body` from inside the hook that first writes this line.
        func on(_ line: String, _ body: @escaping @Sendable () -> Void) { reactions.withLock { $0[line] = body } }
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
    func levelDidChange(_ cause: PressureCause) { note("level \(cause.levelAfter)") }
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
