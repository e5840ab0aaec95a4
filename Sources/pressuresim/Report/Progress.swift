import Foundation
import PressureKit
import ReportPages
import Synchronization

/// One line on a terminal that says what is going on; nothing in a pipe.
///
/// Whoever works only leaves numbers here; a thread of its own draws them five times a second.
final class Progress: Sendable {
    /// What the line tells of memory and of the disk at one moment.
    struct Status: Sendable {
        var point: Timeline.Point
        /// Bytes that went to the disk and came from it, ever.
        var written: Int
        var read: Int
        /// When, in real time.
        var at: MonotonicInstant
    }

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

    /// Draws from now on until ``stop()``. `measure` is asked while drawing.
    func start(disk: SimulatedDisk? = nil, measure: @escaping @Sendable () -> Timeline.Point?) {
        guard isTerminal else { return }
        state.withLock { $0.isRunning = true }
        // Without a thread there is no progress line, and nothing else is missing.
        try? WorkerThread.spawn("progress") { [self] in
            var before: Status?
            while state.withLock(\.isRunning) {
                let traffic = disk?.traffic ?? .init()
                let now = measure().map { point in
                    Status(
                        point: point,
                        written: traffic.bytesWritten,
                        read: traffic.bytesRead,
                        at: SystemClock().now()
                    )
                }
                draw(line(now, since: before))
                before = now
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

    /// The line: phase, how far, level, where the values are, and what happens in a second.
    func line(_ now: Status?, since before: Status? = nil) -> String {
        var parts: [String] = []
        let total = total.load(ordering: .relaxed)
        if total > 0 {
            let done = done.load(ordering: .relaxed)
            parts.append("\(Quantities.count(done)) of \(Quantities.count(total))")
        }
        if let now {
            parts.append("\(now.point.level)")
            parts.append(tiers(now.point))
            parts += rates(now, before)
        }
        // The numbers are what changes: a long title gives way to them.
        let numbers = parts.map { " · " + $0 }.joined()
        var phase = state.withLock(\.phase)
        let room = max(Self.width - numbers.count, Self.leastPhase)
        if phase.count > room { phase = phase.prefix(room - 1) + "…" }
        return String((phase + numbers).prefix(Self.width))
    }

    /// Columns of the line, and those of the phase at least.
    private static let width = 118
    private static let leastPhase = 24

    private func tiers(_ point: Timeline.Point) -> String {
        var parts = ["\(point.resident) in memory"]
        if point.compressed > .zero { parts.append("\(point.compressed) compressed") }
        if point.spilled > .zero { parts.append("\(point.spilled) spilled") }
        return parts.joined(separator: ", ")
    }

    private func rates(_ now: Status, _ before: Status?) -> [String] {
        guard let before, now.at > before.at else { return [] }
        let seconds = (now.at - before.at).seconds
        var parts: [String] = []
        let accesses = now.point.accesses - before.point.accesses
        if accesses > 0 { parts.append("\(Quantities.count(Int(Double(accesses) / seconds))) reads/s") }
        let (out, back) = (now.written - before.written, now.read - before.read)
        if out > 0 { parts.append("out \(Quantities.rate(Double(out) / seconds))") }
        if back > 0 { parts.append("back \(Quantities.rate(Double(back) / seconds))") }
        return parts
    }

    private func draw(_ line: String) {
        // Under the lock, so that nothing is drawn after stop() has cleared the line.
        state.withLock { state in
            guard state.isRunning else { return }
            FileHandle.standardError.write(Data("\r\u{1B}[K\(line)".utf8))
        }
    }
}
