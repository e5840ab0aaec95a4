/// Help texts, which ArgumentParser wraps to the terminal's width line by line.
enum Prose {
    /// The text with each paragraph in one line, so that only the terminal's width breaks it. Lines that are indented,
    /// such as examples, stay as they are.
    static func flowing(_ text: String) -> String {
        var lines: [String] = []
        var goesOn = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let flows = !line.isEmpty && line.first != " "
            if flows, goesOn, let last = lines.popLast() {
                lines.append("\(last) \(line)")
            } else {
                lines.append(String(line))
            }
            goesOn = flows
        }
        return lines.joined(separator: "\n")
    }
}
