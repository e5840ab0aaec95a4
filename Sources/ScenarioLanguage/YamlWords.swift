/// What YAML's parser says, in the words of somebody who writes a scenario: what was found, and what to write instead.
enum YamlWords {
    /// What is allowed where nothing better is known.
    static let general = "YAML (one key a line, spaces to indent)"

    /// - Parameters:
    ///   - problem: libyaml's sentence.
    ///   - line: the line it is about, from its beginning.
    ///   - column: the place in it, from 1.
    static func plain(_ problem: String, line: Substring, column: Int) -> (found: String, allowed: String) {
        let rest = line.dropFirst(column - 1)
        switch problem {
        case _ where problem.contains("tab character"),
            "found character that cannot start any token" where rest.first == "\t":
            return ("a tab", "spaces to indent")
        case "found character that cannot start any token":
            return ("a text that begins with \(rest.prefix(1))", "the text in quotes")
        case "did not find expected comment or line break", "found an indentation indicator equal to 0":
            // What follows > or | stands for a text of several lines.
            return ("a text that begins with > or |", "the text in quotes: \">= 1\"")
        case "mapping values are not allowed in this context":
            return ("a second \": \" in one line", "one key a line; quote a text that has a colon in it")
        case "could not find expected ':'":
            return ("a line that is no key with a value", "key: value; quote a text of several lines")
        case "found unexpected end of stream", "found unexpected document indicator":
            return ("a quote that is not closed", "the closing quote")
        case "but found another document":
            return ("a second document", "one scenario in a file, without ---")
        case "found undefined alias":
            return ("an alias (*) without its anchor (&)", "an anchor before it; quote a text that begins with *")
        case "did not find expected alphabetic or numeric character":
            return ("an anchor (&) or an alias (*) without a name", "a name; quote a text that begins with & or *")
        case "did not find expected ',' or ']'":
            return ("a list [ that is not closed", "a comma between elements, and ]")
        case "did not find expected ',' or '}'":
            return ("a mapping { that is not closed", "a comma between keys, and }")
        case "did not find expected key", "did not find expected '-' indicator":
            return ("a line that is indented otherwise than those above it", "keys of one mapping below each other")
        case "did not find expected node content":
            return ("no value", "a value; quote a text that begins with , ] or }")
        case "found unknown escape character": return ("a \\ in double quotes", "single quotes, or \\\\")
        case "block sequence entries are not allowed in this context":
            return ("a - behind a key", "the list in lines of its own")
        case "did not find expected <document start>": return ("more after the end of the scenario", general)
        case _ where problem.hasPrefix("Maximum nesting level"): return ("a value nested too deeply", "fewer levels")
        case "control characters are not allowed": return ("a control character", "text; \"\\u001b\" in double quotes")
        default: return (problem, general)
        }
    }
}
