import Foundation
import PressureKit
import Synchronization

/// One line on a terminal that says what is going on; nothing in a pipe.
///
/// Whoever works only leaves numbers here; a thread of its own draws them five times a second.
final class Progress: Sendable {
    private struct State {
        var phase = ""
        var isRunning = false
    }

    private let isTerminal: Bool
    private let state = Lock(State())
    private let done = Atomic<Int>(0)
    private let total = Atomic<Int>(0)

    /// - Parameter isTerminal: whether standard error is one; otherwise nothing is ever written.
    init(isTerminal: Bool) { self.isTerminal = isTerminal }

    /// Draws nothing.
    static let quiet = Progress(isTerminal: false)

    /// Names what begins now.
    func begin(_ phase: String) {
        total.store(0, ordering: .relaxed)
        state.withLock { $0.phase = phase }
    }

    /// Tells how far it is.
    func advance(to done: Int, of total: Int) {
        self.done.store(done, ordering: .relaxed)
        self.total.store(total, ordering: .relaxed)
    }

    /// Draws from now on until ``stop()``. `level` is asked while drawing.
    func start(level: @escaping @Sendable () -> PressureLevel?) {
        guard isTerminal else { return }
        state.withLock { $0.isRunning = true }
        // Without a thread there is no progress line, and nothing else is missing.
        try? WorkerThread.spawn("progress") { [self] in
            while state.withLock(\.isRunning) {
                draw(line(level: level()))
                Pause.sleep(.milliseconds(200))
            }
        }
    }

    /// Clears the line and draws no more.
    func stop() {
        guard isTerminal else { return }
        state.withLock { state in
            state.isRunning = false
            FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
        }
    }

    /// The line: phase, how far, resident memory, level.
    func line(level: PressureLevel?) -> String {
        var parts = [state.withLock(\.phase)]
        let total = total.load(ordering: .relaxed)
        if total > 0 {
            let done = done.load(ordering: .relaxed)
            parts.append("\(Quantities.count(done)) of \(Quantities.count(total))")
        }
        parts.append("resident \(ProcessMemory.resident)")
        if let level { parts.append("level \(level)") }
        return String(parts.joined(separator: " · ").prefix(118))
    }

    private func draw(_ line: String) {
        // Under the lock, so that nothing is drawn after stop() has cleared the line.
        state.withLock { state in
            guard state.isRunning else { return }
            FileHandle.standardError.write(Data("\r\u{1B}[K\(line)".utf8))
        }
    }
}
