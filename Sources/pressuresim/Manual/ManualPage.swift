/// One page of the manual, in the macros of man(7), which groff and mandoc both read.
struct ManualPage {
    /// The page's name, such as `pressuresim-run`.
    let name: String
    private let command: ToolDescription.Command
    /// The name on the command line, such as `pressuresim run`.
    private let invocation: String
    /// All pages, for the references at the end.
    private let all: [String]

    /// The tool's own page and one for each command.
    static func all(of tool: ToolDescription) -> [ManualPage] {
        let root = tool.command
        let names = [root.commandName] + root.visible.map { "\(root.commandName)-\($0.commandName)" }
        let first = ManualPage(name: names[0], command: root, invocation: root.commandName, all: names)
        return [first]
            + zip(names.dropFirst(), root.visible).map { name, command in
                let invocation = "\(root.commandName) \(command.commandName)"
                return ManualPage(name: name, command: command, invocation: invocation, all: names)
            }
    }

    /// The file's name in section 1.
    var fileName: String { "\(name).1" }

    /// The page's source.
    var text: String {
        var lines = [
            ".\\\" Written by pressuresim manual. Do not edit.",
            ".TH \(Roff.quoted(name.uppercased())) 1 \"\" \"PressureKit\" \"PressureKit Manual\"",
            // No hyphenation, ragged right: commands are to be copied.
            ".nh", ".ad l",
            ".SH NAME", "\(Roff.escaped(name)) \\- \(Roff.escaped(sentence))",
            ".SH SYNOPSIS",
        ]
        lines += synopsis
        lines.append(".SH DESCRIPTION")
        lines += Roff.paragraphs(command.abstract ?? "")
        lines += Roff.paragraphs(command.discussion ?? "")
        if !command.visible.isEmpty { lines += [".SH COMMANDS"] + command.visible.flatMap(entry) }
        if !command.visibleArguments.isEmpty { lines += [".SH OPTIONS"] + command.visibleArguments.flatMap(entry) }
        lines.append(".SH SEE ALSO")
        let others = all.filter { $0 != name }.map { ".BR \(Roff.name($0)) (1)" }
        lines += others.enumerated().map { $1 + ($0 < others.count - 1 ? " ," : "") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The abstract as the name section wants it: without a full stop.
    private var sentence: String {
        let text = command.abstract ?? ""
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    private var synopsis: [String] {
        guard command.visible.isEmpty else {
            return [".B \(Roff.escaped(invocation))", ".I command", "[\\fIoptions\\fR]"]
        }
        return [".B \(Roff.escaped(invocation))"] + command.visibleArguments.filter { !$0.isHelp }.map(usage)
    }

    private func usage(_ argument: ToolDescription.Argument) -> String {
        let usage = form(argument) + (argument.isRepeating == true ? " ..." : "")
        return argument.isOptional == false ? usage : "[\(usage)]"
    }

    /// How it is written on the command line.
    private func form(_ argument: ToolDescription.Argument) -> String {
        let value = "\\fI\(Roff.escaped(argument.valueName ?? "value"))\\fR"
        guard argument.kind != "positional" else { return value }
        let names = (argument.names ?? []).map { "\\fB\(Roff.escaped($0.text))\\fR" }.joined(separator: ", ")
        return argument.kind == "option" ? "\(names) \(value)" : names
    }

    private func entry(_ argument: ToolDescription.Argument) -> [String] {
        var text = argument.abstract ?? ""
        if let value = argument.defaultValue, !value.isEmpty, argument.kind == "option" {
            text += " (default: \(value))"
        }
        return [".TP", form(argument)] + Roff.paragraphs(text, isFirst: true)
    }

    private func entry(_ command: ToolDescription.Command) -> [String] {
        [".TP", ".BR \(Roff.name("\(name)-\(command.commandName)")) (1)"]
            + Roff.paragraphs(command.abstract ?? "", isFirst: true)
    }
}

/// Text for troff.
enum Roff {
    /// Nothing in it is taken for a request or an escape, and it means the same in every locale.
    static func escaped(_ text: some StringProtocol) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\e"
            // A plain - may be set as a hyphen, which a shell does not know.
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "\"": escaped += "\\(dq"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case "`": escaped += "\\(ga"
            default:
                escaped += scalar.isASCII ? String(scalar) : "\\[u\(hexadecimal(scalar.value))]"
            }
        }
        return escaped.hasPrefix(".") ? "\\&\(escaped)" : escaped
    }

    /// A name that is not to be broken at a line's end.
    static func name(_ text: String) -> String { "\\%\(escaped(text))" }

    /// As one argument of a macro.
    static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

    /// Paragraphs, divided by empty lines; lines that are indented are set as they are.
    ///
    /// - Parameter isFirst: whether it goes on in the paragraph that was begun.
    static func paragraphs(_ text: String, isFirst: Bool = false) -> [String] {
        var lines: [String] = []
        var isLiteral = false
        var begins = !isFirst
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let isIndented = line.hasPrefix("  ")
            if isIndented != isLiteral, !line.isEmpty || isLiteral {
                lines += isLiteral ? [".EE"] : [".PP", ".EX"]
                isLiteral.toggle()
                if !isLiteral { begins = true }
            }
            if line.isEmpty {
                begins = true
            } else {
                if begins, !isLiteral { lines.append(".PP") }
                begins = false
                lines.append(escaped(line))
            }
        }
        return lines + (isLiteral ? [".EE"] : [])
    }

    /// At least four digits, as groff's names of characters have.
    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(4 - digits.count, 0)) + digits
    }
}
