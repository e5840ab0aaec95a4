import PressureSystem

/// What the service manager tells a service to watch: `MEMORY_PRESSURE_WATCH` and `MEMORY_PRESSURE_WRITE`, as systemd's
/// document "Resource Pressure Handling" (docs/PRESSURE.md) has it. Pure.
package enum ServiceWatch: Hashable, Sendable {
    /// The service manager says nothing.
    case absent
    /// It does not want memory to be watched.
    case off
    /// A file, FIFO or socket to open, and what to write into it first.
    case path(String, write: [UInt8])
    /// It says something that makes no sense; the text says what.
    case invalid(String)

    /// The name of the variable with the path.
    package static let watchVariable = "MEMORY_PRESSURE_WATCH"
    /// The name of the variable with what to write, in Base64.
    package static let writeVariable = "MEMORY_PRESSURE_WRITE"

    /// The two variables of this process.
    package static var variables: [String: String] { ProcessEnvironment.variables(watchVariable, writeVariable) }

    /// Reads the two variables.
    package init(_ environment: [String: String]) {
        guard let path = environment[Self.watchVariable], !path.isEmpty else {
            self = .absent
            return
        }
        guard path != "/dev/null" else {
            self = .off
            return
        }
        guard path.hasPrefix("/") else {
            self = .invalid("\(Self.watchVariable) is \"\(path)\", which is no absolute path.")
            return
        }
        guard let bytes = Base64.decode((environment[Self.writeVariable] ?? "").utf8) else {
            self = .invalid("\(Self.writeVariable) is not Base64.")
            return
        }
        self = .path(path, write: bytes)
    }

    /// How long tasks must have waited for a notification to be true: the number in `some 100000 1000000`, in microseconds. Any
    /// waiting will do when that is not what is written.
    package static func threshold(in write: [UInt8]) -> Int {
        let words = write.prefix { $0 != 0 }.split(separator: UInt8(ascii: " "))
        guard words.count == 3, words[0].elementsEqual("some".utf8) || words[0].elementsEqual("full".utf8),
            let threshold = Int(String(decoding: words[1], as: UTF8.self)), threshold > 0
        else { return 1 }
        return threshold
    }
}
