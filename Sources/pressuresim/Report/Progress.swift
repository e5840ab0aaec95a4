import Foundation
import PressureKit
import ReportPages
import Synchronization

/// One line on a terminal that says what is going on; in a pipe nothing, or line after line if somebody asked for that.
///
/// Whoever works only leaves numbers here; a thread of its own draws them five times a second, or every few seconds.
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
        /// When the next line is due that stays.
        var due = MonotonicInstant(nanoseconds: 0)
        /// When it was started.
        var start = MonotonicInstant(nanoseconds: 0)
    }

    let isTerminal: Bool
    /// Between two lines that stay; `nil` for none.
    private let interval: Duration?
    private let write: @Sendable (String) -> Void
    private let state = Lock(State())
    private let done = Atomic<Int>(0)
    private let total = Atomic<Int>(0)

    /// - Parameters:
    ///   - isTerminal: whether standard error is one on which a line can be drawn again.
    ///   - interval: how often a line is written where it is none; `nil` for never.
    ///   - write: where all goes.
    init(
        isTerminal: Bool,
        linesEvery interval: Duration? = nil,
        write: @escaping @Sendable (String) -> Void = { FileHandle.standardError.write(Data($0.utf8)) }
    ) {
        self.isTerminal = isTerminal
        self.interval = isTerminal ? nil : interval
        self.write = write
    }

    /// Draws nothing.
    static let quiet = Progress(isTerminal: false)

    /// Names what begins now.
    func begin(_ phase: String) {
        total.store(0, ordering: .relaxed)
        state.withLock { $0.phase = phase }
        // The first is not waited for: however short it is, something was said.
        tell(at: SystemClock().now(), nil)
    }

    /// Tells how far it is.
    func advance(to done: Int, of total: Int) {
        self.done.store(done, ordering: .relaxed)
        self.total.store(total, ordering: .relaxed)
    }

    /// Draws from now on until ``stop()``. `measure` is asked while drawing.
    func start(disk: SimulatedDisk? = nil, measure: @escaping @Sendable () -> Timeline.Point?) {
        guard isTerminal || interval != nil else { return }
        state.withLock { state in
            state.isRunning = true
            state.start = SystemClock().now()
        }
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
                if isTerminal { draw(line(now, since: before)) } else { tell(at: SystemClock().now(), now) }
                before = now
                Pause.sleep(.milliseconds(200))
            }
        }
    }

    /// Clears the line and draws no more.
    func stop() {
        state.withLock { state in
            if isTerminal, state.isRunning { write("\r\u{1B}[K") }
            state.isRunning = false
        }
    }

    /// Writes a line that stays, if one is due: how long it has gone on, and what the drawn line says.
    func tell(at now: MonotonicInstant, _ status: Status?) {
        guard let interval else { return }
        let line = line(status)
        state.withLock { state in
            guard state.isRunning, !state.phase.isEmpty, now >= state.due else { return }
            state.due = now + interval
            write("\(Quantities.fixed((now - state.start).seconds, 0)) s: \(line)\n")
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
        let room = max(width - numbers.count, min(Self.leastPhase, width))
        if phase.count > room { phase = phase.prefix(room - 1) + "…" }
        let line = phase + numbers
        // A line that goes on in the next one is not drawn again where it began.
        return line.count > width ? line.prefix(width - 1) + "…" : line
    }

    /// Columns of the line: no more than the terminal has, less one for its cursor.
    private var width: Int {
        min(Self.most, isTerminal ? max((Terminal.columns(of: STDERR_FILENO) ?? Self.most) - 1, 8) : Self.most)
    }

    private static let most = 118
    /// Columns of the phase at least.
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
            if state.isRunning { write("\r\u{1B}[K\(line)") }
        }
    }
}
