import Foundation
import Glibc

/// Where `watch` writes: over and over the same place of a terminal, or line after line.
struct WatchScreen: Sendable {
    var isTerminal: Bool
    /// Writes nothing: somebody else has the output.
    var isQuiet = false

    /// The alternate screen, and no cursor: what was there before comes back at the end (xterm's control sequences).
    func begin() { if isTerminal, !isQuiet { write("\u{1B}[?1049h\u{1B}[?25l") } }

    /// The terminal as it was.
    func end() { if isTerminal, !isQuiet { write("\u{1B}[?25h\u{1B}[?1049l") } }

    /// Shows what there is to see now.
    ///
    /// - Returns: whether anybody can see it.
    func show(_ watcher: Watcher) -> Bool {
        guard !isQuiet else { return true }
        let frame = watcher.frame
        guard isTerminal else {
            return write((watcher.news().map(\.text) + [frame.line]).map { $0 + "\n" }.joined())
        }
        let (width, height) = Self.size
        let lines = frame.lines(width: width, style: .output).prefix(height - 1)
        // Each line clears what was left of the one before; then everything below goes.
        return write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J")
    }

    @discardableResult private func write(_ text: String) -> Bool {
        (try? FileDescriptorOutput.write(Data(text.utf8), to: STDOUT_FILENO)) != nil
    }

    /// Columns and rows; of a terminal that does not say, the usual ones.
    private static var size: (width: Int, height: Int) {
        var size = winsize()
        // The kernel fills in the structure it is given.
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), max(Int(size.ws_row), 2))
    }
}
