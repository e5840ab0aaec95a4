import PressureSignals
import PressureSystem

/// What somebody outside the process may ask for.
package enum ControlCommand: Hashable, Sendable {
    /// How things stand.
    case status
    /// A simulated memory warning.
    case warn(PressureLevel, freeing: ByteCount?)
    /// Bytes.
    case evict(ByteCount)
    /// The app is to be idle.
    case background
    /// It is to be used again.
    case foreground

    /// The longest line, its end included.
    package static let longestLine = 256
    /// The most bytes that can be asked for, as everywhere: 1 EiB.
    private static let mostBytes = 1 << 60

    /// The word it begins with.
    package var name: String {
        switch self {
        case .status: "status"
        case .warn: "warn"
        case .evict: "evict"
        case .background: "background"
        case .foreground: "foreground"
        }
    }

    /// Reads a line without its end. Words are divided by spaces or tabs, and are written in small letters.
    ///
    /// - Throws: ``ControlRefusal`` that says what is allowed.
    package init(line: [UInt8]) throws(ControlRefusal) {
        let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
        guard let verb = words.first else { throw .unknownCommand }
        let arguments = words.dropFirst()
        switch String(decoding: verb, as: UTF8.self) {
        case "status": self = .status
        case "background": self = .background
        case "foreground": self = .foreground
        case "warn":
            self = try Self.warning(arguments)
            return
        case "evict":
            guard arguments.count == 1, let bytes = Self.bytes(arguments[arguments.startIndex]) else {
                throw .wrongArgument("evict takes one number of bytes, such as: evict 67108864.")
            }
            self = .evict(bytes)
            return
        default: throw .unknownCommand
        }
        guard arguments.isEmpty else { throw .wrongArgument("\(name) takes no argument.") }
    }

    private static func warning(_ arguments: ArraySlice<ArraySlice<UInt8>>) throws(ControlRefusal) -> ControlCommand {
        var rest = arguments
        var level = PressureLevel.warning
        switch rest.first.map({ String(decoding: $0, as: UTF8.self) }) {
        case "warning": rest.removeFirst()
        case "critical":
            level = .critical
            rest.removeFirst()
        default: break
        }
        guard let word = rest.first else { return .warn(level, freeing: nil) }
        guard rest.count == 1, let bytes = bytes(word) else {
            throw .wrongArgument(
                "warn takes warning or critical, and a number of bytes, such as: warn critical 67108864."
            )
        }
        return .warn(level, freeing: bytes)
    }

    /// A number from 1 to 2^60, in decimal digits only.
    private static func bytes(_ word: ArraySlice<UInt8>) -> ByteCount? {
        // 19 digits fit into an Int; more are too many anyway.
        guard (1...19).contains(word.count) else { return nil }
        var value = 0
        for digit in word {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (tens, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) = tens.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
            guard !overflows, !overflowsToo else { return nil }
            value = sum
        }
        return (1...mostBytes).contains(value) ? .bytes(value) : nil
    }
}

/// Why a command is not carried out.
package struct ControlRefusal: Error, Hashable, Sendable {
    /// For programs; stable.
    package var code: String
    /// For a person: what is allowed.
    package var message: String

    package static let unknownCommand = ControlRefusal(
        code: "unknownCommand",
        message: "The commands are: status; warn [warning|critical] [BYTES]; evict BYTES; background; foreground."
    )
    package static let lineTooLong = ControlRefusal(
        code: "lineTooLong",
        message: "A line has at most \(ControlCommand.longestLine - 1) bytes."
    )
    package static let busy = ControlRefusal(
        code: "busy",
        message: "As many commands are being carried out as there may be connections. Try again when one has ended."
    )
    package static let denied = ControlRefusal(
        code: "denied",
        message: "Only the user whose process this is, and root, are listened to."
    )
    package static let shutDown = ControlRefusal(code: "shutDown", message: "The manager is gone.")

    package static func wrongArgument(_ message: String) -> ControlRefusal {
        ControlRefusal(code: "wrongArgument", message: message)
    }
}
