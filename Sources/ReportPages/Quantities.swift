import PressureSystem

/// Numbers as people read them: three significant digits and a unit.
package enum Quantities {
    /// `"340 ns"`, `"4.2 ms"`, `"12.5 s"`; `"0 s"` for none.
    package static func duration(_ seconds: Double) -> String {
        if seconds == 0 { return "0 s" }
        let units: [(String, Double)] = [("s", 1), ("ms", 1e-3), ("µs", 1e-6)]
        for (name, worth) in units where seconds >= worth { return "\(digits(seconds / worth)) \(name)" }
        return "\(digits(seconds * 1e9)) ns"
    }

    /// `"1.5 MiB"`.
    package static func bytes(_ count: Double) -> String { ByteCount(bytes: Int(count.rounded())).description }

    /// In the largest unit that keeps a whole digit, the number as `write` has it.
    package static func bytes(_ count: Double, _ write: (Double) -> String) -> String {
        let units = [("TiB", 0x1p40), ("GiB", 0x1p30), ("MiB", 0x1p20), ("KiB", 0x1p10)]
        let (name, worth) = units.first { count >= $0.1 } ?? ("B", 1)
        return "\(write(count / worth)) \(name)"
    }

    /// `"148 MB/s"`, in powers of ten as codecs and disks are quoted.
    package static func rate(_ bytesPerSecond: Double) -> String {
        bytesPerSecond >= 1e9 ? "\(digits(bytesPerSecond / 1e9)) GB/s" : "\(digits(bytesPerSecond / 1e6)) MB/s"
    }

    /// `"96.7 %"`.
    package static func percent(_ ratio: Double) -> String { "\(digits(ratio * 100)) %" }

    /// `"12,345"`.
    package static func count(_ number: Int) -> String {
        var text = ""
        for (index, digit) in String(number.magnitude).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + String(text.reversed())
    }

    /// `"1 value"`, `"1,000 values"`.
    package static func count(_ number: Int, _ noun: String) -> String {
        "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// Three significant digits, never in exponential form.
    package static func digits(_ value: Double) -> String {
        let magnitude = abs(value)
        return fixed(value, magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2)
    }

    /// A number with so many decimals.
    package static func fixed(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite else { return "\(value)" }
        var scale = 1
        for _ in 0..<decimals { scale *= 10 }
        let scaled = Int((abs(value) * Double(scale)).rounded())
        let fraction = String(scaled % scale + scale).dropFirst()
        let sign = value < 0 && scaled > 0 ? "-" : ""
        return decimals == 0 ? "\(sign)\(scaled)" : "\(sign)\(scaled / scale).\(fraction)"
    }
}
