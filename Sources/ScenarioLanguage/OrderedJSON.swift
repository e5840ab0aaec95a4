import Foundation

/// JSON whose keys stay in the order in which they were given, so that what is generated reads as it was written.
package indirect enum OrderedJSON: Sendable {
    case object([(key: String, value: OrderedJSON)])
    case array([OrderedJSON])
    case text(String)
    case number(Double)
    case whole(Int)
    case flag(Bool)

    /// Lines longer than this are broken where they can be.
    private static let width = 120

    /// The text, indented by two spaces a level; what fits on a line is on one.
    package var text: String { text(indented: 0, after: 0) }

    /// The value of a key; `nil` without it, and in what is no object.
    subscript(key: String) -> OrderedJSON? {
        guard case .object(let pairs) = self else { return nil }
        return pairs.first { $0.key == key }?.value
    }

    /// An object with a key put first, in place of one of that name. What is no object stays as it is.
    func beginning(with key: String, _ value: OrderedJSON) -> OrderedJSON {
        guard case .object(let pairs) = self else { return self }
        return .object([(key, value)] + pairs.filter { $0.key != key })
    }

    private func text(indented indent: Int, after column: Int) -> String {
        let line = line
        if indent + column + line.count <= Self.width { return line }
        let inner = String(repeating: " ", count: indent + 2)
        let outer = String(repeating: " ", count: indent)
        switch self {
        case .object(let pairs):
            let lines = pairs.map { key, value in
                let key = "\(Self.quoted(key)): "
                return inner + key + value.text(indented: indent + 2, after: key.count + 1)
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
        case .array(let elements):
            let lines = elements.map { inner + $0.text(indented: indent + 2, after: 1) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
        default: return line
        }
    }

    private var line: String {
        switch self {
        case .object(let pairs):
            "{" + pairs.map { "\(Self.quoted($0.key)): \($0.value.line)" }.joined(separator: ", ") + "}"
        case .array(let elements): "[" + elements.map(\.line).joined(separator: ", ") + "]"
        case .text(let text): Self.quoted(text)
        case .number(let number): number == number.rounded() ? "\(Int(number))" : "\(number)"
        case .whole(let number): "\(number)"
        case .flag(let flag): "\(flag)"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20: quoted += String(format: "\\u%04x", scalar.value)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension OrderedJSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int) { self = .whole(value) }
    package init(booleanLiteral value: Bool) { self = .flag(value) }
    package init(arrayLiteral elements: OrderedJSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, OrderedJSON)...) { self = .object(elements.map { ($0.0, $0.1) }) }
}
