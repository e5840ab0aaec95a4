/// How text is written into markup.
package enum HtmlText {
    /// The text with the characters that mean something to a parser as references.
    static func escape(_ text: String) -> String {
        var markup = ""
        escape(text, into: &markup)
        return markup
    }

    /// The same, appended.
    ///
    /// Good for text between tags and in quoted attributes. A control character, which no page may hold, becomes the
    /// replacement character, and so does one that turns the direction of what follows.
    static func escape(_ text: String, into markup: inout String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": markup += "&amp;"
            case "<": markup += "&lt;"
            case ">": markup += "&gt;"
            case "\"": markup += "&quot;"
            case "'": markup += "&#39;"
            case "\n", "\t": markup.unicodeScalars.append(scalar)
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{FFFE}",
                "\u{FFFF}":
                markup += "\u{FFFD}"
            default: markup.unicodeScalars.append(scalar)
            }
        }
    }

    /// A text as an identifier: lower-case letters, digits and hyphens, from a letter on.
    package static func identifier(_ text: String) -> String {
        var identifier = ""
        for scalar in text.unicodeScalars {
            if scalar.isASCII, scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) {
                identifier += String(scalar).lowercased()
            } else if !identifier.isEmpty, identifier.last != "-" {
                identifier += "-"
            }
        }
        while identifier.last == "-" { identifier.removeLast() }
        guard let first = identifier.first, first.isLetter else { return identifier.isEmpty ? "x" : "x-" + identifier }
        return identifier
    }
}

extension String {
    /// The same with no-break spaces between numbers and what follows them, so that no line ends between `12` and `MiB`.
    package var unbroken: String {
        var text = ""
        for character in self {
            text.append(character == " " && text.last?.isNumber == true ? "\u{A0}" : character)
        }
        return text
    }
}
