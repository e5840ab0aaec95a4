import Foundation
import PressureSystem

/// A number with the unit written behind it, taken apart.
struct Quantity {
    var number: Double
    var unit: String

    /// Splits `"1.5 GiB"` or `"90%"`; `nil` when it does not begin with a decimal number.
    init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "_" || $0 == ",") }
        let plain = digits.filter { $0 != "_" && $0 != "," }
        guard let number = Double(plain), number.isFinite else { return nil }
        self.number = number
        self.unit = text.dropFirst(digits.count).trimmingCharacters(in: .whitespaces)
    }
}

/// A family of units, largest last, each with its worth in the base unit.
package struct UnitFamily: Sendable {
    var units: [(name: String, worth: Double)]
    /// An example for messages.
    package var example: String

    package static let bytes = UnitFamily(
        units: [("B", 1), ("KiB", 1024), ("MiB", 1_048_576), ("GiB", 1_073_741_824)],
        example: "64KiB"
    )
    /// Durations, in seconds.
    package static let time = UnitFamily(
        units: [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1), ("min", 60), ("h", 3600)],
        example: "200ms"
    )
    /// Bytes a second; `MB` is 10^6 bytes, as disks and codecs are usually quoted.
    package static let rate = UnitFamily(
        units: [("KiB/s", 1024), ("MB/s", 1e6), ("MiB/s", 1_048_576), ("GB/s", 1e9), ("GiB/s", 1_073_741_824)],
        example: "150MB/s"
    )

    /// `B, KiB, MiB, GiB`
    package var names: String { units.map(\.name).joined(separator: ", ") }

    /// The quantity in the base unit; `nil` without a number or with a unit of another family.
    package func value(_ text: String) -> Double? {
        guard let quantity = Quantity(text) else { return nil }
        return units.first { $0.name == quantity.unit }.map { quantity.number * $0.worth }
    }

    /// The text with the unit that was probably meant: `64KB` becomes `64KiB`, `200` becomes nothing.
    package func suggestion(_ text: String) -> String? {
        guard let quantity = Quantity(text), !quantity.unit.isEmpty else { return nil }
        let number = text.prefix { $0.isNumber || $0 == "." }
        // Of units that are larger than all of these the largest is nearest, however it is spelled.
        if let first = quantity.unit.first, "TPE".contains(first),
            let largest = units.last(where: { $0.name.dropFirst() == quantity.unit.dropFirst() })
        {
            return "\(number)\(largest.name)"
        }
        let begun = units.first { $0.name.hasPrefix(quantity.unit) }?.name
        return (Spelling.nearest(to: quantity.unit, among: units.map(\.name)) ?? begun).map { "\(number)\($0)" }
    }
}

extension UnitFamily {
    /// A number with one of the units, as a schema says it.
    var schema: OrderedJSON { .pattern(expression) }

    /// A regular expression for a number with one of the units.
    var expression: String { "\(Self.number) *(\(units.map(\.name).joined(separator: "|")))" }

    /// A regular expression for a number.
    static let number = "[0-9._,]*[0-9][0-9._,]*"
}

extension Form where Value == Double {
    /// A quantity with one of the units, in the base unit and within a range of it.
    static func quantity(_ noun: String, _ family: UnitFamily, in range: ClosedRange<Double>, _ limits: String) -> Form
    {
        let allowed = "\(noun) with its unit (\(family.names)), such as \(family.example), \(limits)"
        return Form(allowed, schema: { _ in family.schema }) { node, diagnostics in
            if let value = node.text.flatMap(family.value), range.contains(value) { return value }
            let suggestion = node.text.flatMap { family.value($0) == nil ? family.suggestion($0) : nil }
            diagnostics.report(node, allowed: allowed, suggestion: suggestion)
            return nil
        }
    }

    /// A rate that a disk, a hog or a fill may have.
    static var rate: Form { quantity("a rate", .rate, in: 1024...10e9, "from 1KiB/s to 10GB/s") }

    /// A share between 0 and 1, or in percent.
    static var share: Form {
        let schema: OrderedJSON = [
            "type": ["number", "string"], "minimum": 0, "maximum": 1, "pattern": .text("^\(UnitFamily.number) *%$"),
        ]
        return scalar("a share from 0 to 1, such as 0.25 or 25%", schema: schema) { text in
            guard let quantity = Quantity(text) else { return nil }
            let value = quantity.unit == "%" ? quantity.number / 100 : quantity.number
            return (quantity.unit.isEmpty || quantity.unit == "%") && (0...1).contains(value) ? value : nil
        }
    }

    /// A plain number within a range.
    static func number(_ range: ClosedRange<Double>, such example: String) -> Form {
        let schema: OrderedJSON = [
            "type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound),
        ]
        return scalar("a number from \(range.lowerBound) to \(range.upperBound), such as \(example)", schema: schema) {
            Double($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension Form where Value == ByteCount {
    /// A size from 1 byte to 64 GiB.
    static var size: Form {
        Form<Double>.quantity("a size", .bytes, in: 1...68_719_476_736, "from 1B to 64GiB")
            .map { .bytes(Int($0.rounded())) }
    }
}

extension Form where Value == Duration {
    /// A duration of at most an hour.
    static var duration: Form {
        Form<Double>.quantity("a duration", .time, in: 0...3600, "up to 60min").map(Duration.init(roundedSeconds:))
    }

    /// A duration of at most a day, for what virtual time passes over.
    static var longDuration: Form {
        Form<Double>.quantity("a duration", .time, in: 0...86_400, "up to 24h").map(Duration.init(roundedSeconds:))
    }
}

extension Duration {
    /// To the nanosecond.
    init(roundedSeconds seconds: Double) { self = .nanoseconds(Int64((seconds * 1e9).rounded())) }
}

extension Form where Value == Int {
    /// A whole number within a range; `1_000` is one as well.
    static func count(_ range: ClosedRange<Int>) -> Form {
        let schema: OrderedJSON = [
            "type": ["integer", "string"], "minimum": .whole(range.lowerBound), "maximum": .whole(range.upperBound),
            "pattern": "^[0-9_]*[0-9][0-9_]*$",
        ]
        return scalar("a whole number from \(range.lowerBound) to \(range.upperBound)", schema: schema) { text in
            Int(text.filter { $0 != "_" }).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension Form where Value == Bool {
    /// `true` or `false`. YAML 1.1's other words (yes, on, y) are refused: they surprise as often as they help.
    static func flag(_ whenTrue: String, _ whenFalse: String) -> Form {
        word([Word("true", true, whenTrue), Word("false", false, whenFalse)])
    }
}

extension Form where Value == String {
    /// Any text that is not empty, of at most so many characters. A number is text, too.
    static func text(_ noun: String, upTo most: Int = 4096) -> Form {
        let allowed = "\(noun), at most \(most) characters"
        let schema: OrderedJSON = [
            "type": ["string", "number", "boolean"], "minLength": 1, "maxLength": .whole(most),
        ]
        return Form(noun, schema: { _ in schema }) { node, diagnostics in
            guard let text = node.text else {
                diagnostics.report(node, allowed: noun)
                return nil
            }
            guard text.count <= most else {
                diagnostics.report(node, found: "a text of \(text.count) characters", allowed: allowed)
                return nil
            }
            return text
        }
    }

    /// A text to read, such as a title: what a terminal would obey is written out in it.
    static func prose(_ noun: String, upTo most: Int = 4096) -> Form { text(noun, upTo: most).map(\.visible) }

    /// A name of a controller or cache: a path component, so no slash, no wildcard, no space at the ends.
    static var name: Form {
        let allowed = "a name of letters, digits, spaces and . _ - (no / * ? at all), at most 100 characters"
        let schema: OrderedJSON = [
            "type": ["string", "number"], "minLength": 1, "maxLength": 100, "pattern": "^[^\\[\\]/*?(){}:;,|<>\"']+$",
        ]
        return scalar(allowed, schema: schema) { text in
            let fits = text.allSatisfy { $0.isLetter || $0.isNumber || " ._-".contains($0) }
            let trimmed = text.trimmingCharacters(in: .whitespaces) == text
            return fits && trimmed && text.count <= 100 && text != "." && text != ".." ? text : nil
        }
    }
}

extension Form {
    /// One quantity, or a range of them such as `64KiB to 1MiB`; in the base unit.
    static func range(_ one: Form<Double>, _ family: UnitFamily, in bounds: ClosedRange<Double>, such example: String)
        -> Form where Value == ClosedRange<Double>
    {
        let allowed = "\(one.allowed), or a range such as \(example)"
        let schema = OrderedJSON.pattern("\(family.expression)( to \(family.expression))?")
        return Form(allowed, schema: { _ in schema }) { node, diagnostics in
            let ends = (node.text ?? "").components(separatedBy: " to ")
            let values = ends.compactMap { family.value($0.trimmingCharacters(in: .whitespaces)) }
            if values.count == ends.count, values.count <= 2, let low = values.first, let high = values.last,
                low <= high, bounds.contains(low), bounds.contains(high)
            {
                return low...high
            }
            if values.count == 2, values[0] > values[1], values.allSatisfy(bounds.contains) {
                diagnostics.report(node, allowed: "a range that goes up: \(ends[1]) to \(ends[0])")
                return nil
            }
            let suggestion = ends.count == 1 ? family.suggestion(ends[0]) : nil
            diagnostics.report(node, allowed: allowed, suggestion: values.isEmpty ? suggestion : nil)
            return nil
        }
    }
}

extension Form where Value == ClosedRange<ByteCount> {
    /// One size, or a range of sizes `64KiB to 1MiB`.
    static var sizes: Form {
        let bounds = 1.0...68_719_476_736
        let one = Form<Double>.quantity("a size", .bytes, in: bounds, "from 1B to 64GiB")
        return Form<ClosedRange<Double>>.range(one, .bytes, in: bounds, such: "64KiB to 1MiB").map { range in
            .bytes(Int(range.lowerBound.rounded()))...(.bytes(Int(range.upperBound.rounded())))
        }
    }
}

extension Form where Value == String {
    /// A trace with a column that has one for each value.
    static var column: Form {
        .mapping("a column of a trace") { section in
            section.required(
                "trace",
                .text("a file of keys", upTo: 1024),
                "A text file: key, tab, size, tab, cost; the n-th new key stands for the n-th value."
            )
        }
    }
}

extension Form where Value == ClosedRange<Duration> {
    /// One duration, or a range of durations `2ms to 10ms`.
    static var durations: Form {
        let bounds = 0.0...3600
        let one = Form<Double>.quantity("a duration", .time, in: bounds, "up to 60min")
        return Form<ClosedRange<Double>>.range(one, .time, in: bounds, such: "2ms to 10ms").map { range in
            Duration(roundedSeconds: range.lowerBound)...Duration(roundedSeconds: range.upperBound)
        }
    }
}
