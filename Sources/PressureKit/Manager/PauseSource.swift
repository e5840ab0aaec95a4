import CLinuxShims
import Glibc
import PressureSystem
import SystemPackage

/// Who says that the process is to be idle, and that it is not any more.
public enum PauseSource: Hashable, Sendable {
    /// The terminal's job control: SIGTSTP (Ctrl-Z) and SIGCONT (`fg`, `bg`). The process stops itself when its memory
    /// is out of the way.
    case terminal
    /// A FIFO at this path, made for this user alone, to which a line is written: `pause` or `pre` before, `resume` or
    /// `post` after. The latter two are what systemd-sleep(8) passes to its hooks.
    case fifo(String)
}

/// What such a source says.
enum Pause: Sendable {
    case pause(PauseSource)
    case resume
}

/// The thread that waits for one source.
final class PauseWatch: Sendable {
    private let descriptor: CInt
    private let source: PauseSource
    /// Written to the descriptor to end the thread: no source writes that.
    private static let end = UInt8(ascii: "!")

    /// The handlers are the process's.
    private static let catching = Lock(())

    /// Starts to watch.
    ///
    /// - Throws: ``PressureError`` with `signalUnavailable` or `threadUnavailable`.
    init(_ source: PauseSource, _ report: @escaping @Sendable (Pause) -> Void) throws(PressureError) {
        self.source = source
        let reader: CInt
        switch source {
        case .terminal:
            var ends: (CInt, CInt) = (-1, -1)
            guard Self.catching.withLock({ _ in unsafe pk_catch_pauses(&ends.0, &ends.1) }) == 0 else {
                throw .pauseSourceUnavailable("job control", errno: errno)
            }
            (reader, descriptor) = ends
        case .fifo(let path):
            // Read and written by the same descriptor, so that it never ends while nobody else has it open.
            let fifo = unsafe pk_open_fifo(path)
            guard fifo >= 0 else { throw .pauseSourceUnavailable(path, errno: errno) }
            (reader, descriptor) = (fifo, fifo)
        }
        do throws(PressureError) {
            try WorkerThread.spawn("pk-pause") { Self.read(reader, source, report) }
        } catch {
            if source == .terminal { pk_release_pauses() } else { _ = close(reader) }
            throw error
        }
    }

    deinit {
        var end = Self.end
        _ = unsafe write(descriptor, &end, 1)
    }

    /// A thread's life: reads until it is told to end, then puts everything back.
    private static func read(_ reader: CInt, _ source: PauseSource, _ report: (Pause) -> Void) {
        var word: [UInt8] = []
        var byte: UInt8 = 0
        reading: while true {
            let count = unsafe Glibc.read(reader, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != end else { break reading }
            if byte != UInt8(ascii: "\n") {
                // Longer words are none of ours.
                if word.count < 16 { word.append(byte) }
                continue
            }
            switch String(decoding: word, as: UTF8.self) {
            case "pause", "pre": report(.pause(source))
            case "resume", "post": report(.resume)
            default: break
            }
            word = []
        }
        if source == .terminal { pk_release_pauses() } else { _ = close(reader) }
    }
}

extension PressureManager {
    /// Goes to the background and returns when `sources` say so, until the task is cancelled.
    ///
    /// ```swift
    /// async let pauses: Void = manager.followPauses([.terminal])
    /// ```
    ///
    /// Suspends. With ``PauseSource/terminal``, SIGTSTP and SIGCONT are this call's until it returns; the process is
    /// stopped when ``enterBackground(within:)`` has ended, or its time is over. A FIFO is removed by nobody.
    ///
    /// - Parameters:
    ///   - sources: whom to follow.
    ///   - limit: what ``enterBackground(within:)`` may take.
    /// - Throws: ``PressureError`` with `signalUnavailable` when a FIFO cannot be made or opened, or somebody follows the
    ///   terminal already; `threadUnavailable`.
    public func followPauses(
        _ sources: [PauseSource],
        within limit: Duration = .seconds(2)
    ) async throws(PressureError) {
        let (pauses, continuation) = AsyncStream<Pause>.makeStream()
        var watches: [PauseWatch] = []
        for source in sources { watches.append(try PauseWatch(source) { continuation.yield($0) }) }
        for await pause in pauses {
            switch pause {
            case .pause(let source):
                _ = await enterBackground(within: limit)
                if source == .terminal { raise(SIGSTOP) }
            case .resume:
                _ = await enterForeground()
            }
        }
        withExtendedLifetime(watches) {}
    }
}

extension PressureError {
    fileprivate static func pauseSourceUnavailable(_ name: String, errno: CInt) -> PressureError {
        let remedy =
            switch errno {
            case EBUSY: "One call at a time can follow it; end the other one first."
            case EEXIST: "Something else has that name. Remove it, or name another path."
            default: "Name a path in a directory that this user may write to."
            }
        return PressureError(
            code: .signalUnavailable,
            message: "Pauses cannot be followed by \(name): \(Errno(rawValue: errno)). \(remedy)",
            errno: errno
        )
    }
}
