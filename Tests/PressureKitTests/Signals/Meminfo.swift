import Foundation
import PressureKit
import Testing

/// The fixtures of the form of /proc/meminfo, by their names.
enum Meminfo {
    static let kernels = [
        "linux-2.6.24", "linux-2.6.32", "linux-3.10", "linux-4.18", "linux-5.4", "linux-6.18", "lxcfs",
    ]

    /// The bytes of a fixture.
    static func text(_ name: String) throws -> [UInt8] {
        let url = try #require(
            Bundle.module.url(forResource: name, withExtension: "txt", subdirectory: "Fixtures/meminfo")
        )
        return Array(try Data(contentsOf: url))
    }

    /// What the library reads in a fixture.
    static func parsed(_ name: String) throws -> MemoryInfo? { parse(try text(name)) }

    /// What the library reads in some bytes.
    static func parse(_ bytes: some Collection<UInt8>) -> MemoryInfo? { MemoryInfoParser.parse(Array(bytes).span) }

    /// What the library reads in some text.
    static func parse(_ text: String) -> MemoryInfo? { parse(text.utf8) }
}
