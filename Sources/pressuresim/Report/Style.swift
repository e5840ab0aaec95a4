import Foundation

/// Whether and how text is coloured, and how wide it may be.
struct Style: Sendable {
    let isColoured: Bool
    /// The columns there are; `nil` where lines may be as long as they like.
    var columns: Int?

    init(isColoured: Bool, columns: Int? = nil) {
        self.isColoured = isColoured
        self.columns = columns
    }

    /// Never coloured.
    static let plain = Style(isColoured: false)

    /// What suits standard output.
    static var output: Style {
        var style = detect(isTerminal: isatty(STDOUT_FILENO) == 1)
        style.columns = Terminal.columns(of: STDOUT_FILENO)
        return style
    }

    /// Coloured on a terminal that can. `NO_COLOR` refuses it everywhere (https://no-color.org); `CLICOLOR_FORCE` asks
    /// for it everywhere else, pipes included, and `CLICOLOR=0` refuses it too. An empty variable counts as none.
    static func detect(
        isTerminal: Bool,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Style {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if value("NO_COLOR") != nil { return .plain }
        if let force = value("CLICOLOR_FORCE"), force != "0" { return Style(isColoured: true) }
        return Style(isColoured: isTerminal && value("CLICOLOR") != "0" && value("TERM") != "dumb")
    }

    func bold(_ text: String) -> String { wrap(text, "1") }
    func dim(_ text: String) -> String { wrap(text, "2") }
    func good(_ text: String) -> String { wrap(text, "32") }
    func bad(_ text: String) -> String { wrap(text, "1;31") }

    private func wrap(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// What a descriptor leads to.
enum Terminal {
    /// Whether it is a terminal on which a line can be drawn again: a dumb one, such as an editor's, only goes on.
    static func canRedraw(
        _ descriptor: Int32,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Bool {
        isatty(descriptor) == 1 && environment["TERM"] != "dumb"
    }
}

extension Progress {
    /// On standard error, if that is a terminal that can show it.
    static func onTerminal() -> Progress { Progress(isTerminal: Terminal.canRedraw(STDERR_FILENO)) }
}
