extension String {
    /// The text with characters that nobody sees, and that a terminal or a browser may obey, written out: `\u{1b}`.
    package var visible: String { visible(except: []) }

    /// The same, with some left as they are.
    package func visible(except kept: Set<Unicode.Scalar>) -> String {
        guard unicodeScalars.contains(where: { $0.isObeyed && !kept.contains($0) }) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.isObeyed, !kept.contains(scalar) {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character, turns the direction of writing, or ends a line.
    fileprivate var isObeyed: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        // Those of Bidi_Control (Unicode Standard Annex #9).
        case .format: [0x061C, 0x200E, 0x200F].contains(value) || 0x202A...0x202E ~= value || 0x2066...0x2069 ~= value
        default: false
        }
    }
}
