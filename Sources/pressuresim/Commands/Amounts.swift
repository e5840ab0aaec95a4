import ArgumentParser
import Foundation
import PressureKit
import ScenarioLanguage

/// Amounts on the command line, with their units: the same ones as in scenario files.
enum Amounts {
    /// `300MiB`; from 1 byte to 1 TiB.
    static func size(_ text: String) throws(ValidationError) -> ByteCount {
        .bytes(Int(try read(text, .bytes, 1...1_099_511_627_776, "from 1B to 1024GiB").rounded()))
    }

    /// `500MB/s`, in bytes a second; from 1 KiB/s to 100 GiB/s.
    static func rate(_ text: String) throws(ValidationError) -> Double {
        try read(text, .rate, 1024...107_374_182_400, "from 1KiB/s to 100GiB/s")
    }

    /// `10s`; at most a day.
    static func duration(_ text: String) throws(ValidationError) -> Duration {
        .nanoseconds(Int64((try read(text, .time, 0...86_400, "up to 1440min") * 1e9).rounded()))
    }

    private static func read(
        _ text: String,
        _ family: UnitFamily,
        _ range: ClosedRange<Double>,
        _ limits: String
    ) throws(ValidationError) -> Double {
        if let value = family.value(text), range.contains(value) { return value }
        var message =
            "\"\(text)\" must be a number with its unit (\(family.names)), such as \(family.example), \(limits)."
        if family.value(text) == nil, let meant = family.suggestion(text) { message += " Did you mean \(meant)?" }
        throw ValidationError(message)
    }
}
