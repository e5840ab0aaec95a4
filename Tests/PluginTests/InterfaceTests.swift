#if !THREAD_SANITIZER  // One thread at a time.
import CPressureKit
import Foundation
import Testing

/// The header and the library as others see them: compilers, linkers, and programs that were built before.
@Suite(.timeLimit(.minutes(2))) struct InterfaceTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let package = tests.deletingLastPathComponent().deletingLastPathComponent()
    private static let header = package.appendingPathComponent("Sources/CPressureKit/include/pressurekit.h")

    private struct Outcome {
        var status: Int32
        var text: String
    }

    private static func run(_ arguments: String..., input: String? = nil) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let (output, source) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = output
        process.standardInput = source
        try process.run()
        try source.fileHandleForWriting.write(contentsOf: Data((input ?? "").utf8))
        try source.fileHandleForWriting.close()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Outcome(status: process.terminationStatus, text: String(decoding: text, as: UTF8.self))
    }

    private static func lines(_ file: String) throws -> [String] {
        try String(contentsOf: tests.appendingPathComponent(file), encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    /// A program that uses everything that is a macro or a type.
    private static let program = """
        #include "\(header.path)"
        int check(void);
        int check(void) {
            pressurekit_options options = PRESSUREKIT_OPTIONS_INIT;
            pressurekit_cache_options cache_options = PRESSUREKIT_CACHE_OPTIONS_INIT;
            pressurekit_keyed_options keyed_options = PRESSUREKIT_KEYED_OPTIONS_INIT;
            pressurekit_state_report state_report = PRESSUREKIT_STATE_REPORT_INIT;
            pressurekit_report report = PRESSUREKIT_REPORT_INIT;
            pressurekit_statistics statistics = PRESSUREKIT_STATISTICS_INIT;
            pressurekit_manager_t manager = 0;
            pressurekit_cache_t cache = 0;
            pressurekit_pin_t pin = 0;
            const void *bytes = NULL;
            size_t count = 0;
            pressurekit_status status = pressurekit_create(&options, &manager);
            status += pressurekit_add_cache(manager, "a", &cache_options, &cache);
            status += pressurekit_access(cache, &pin, &bytes, &count);
            status += pressurekit_add_keyed_cache(manager, "b", &keyed_options, &cache);
            status += pressurekit_access_key(cache, "key", 3, &pin, &bytes, &count);
            status += pressurekit_save_state(manager, "state", NULL, &state_report);
            status += pressurekit_warn(manager, PRESSUREKIT_CRITICAL, 0, &report);
            status += pressurekit_get_statistics(manager, &statistics);
            return status == PRESSUREKIT_OK ? (int)report.evicted + (int)statistics.caches : 1;
        }

        """

    @Test(arguments: [
        ("cc", "c", "c99"), ("cc", "c", "c17"), ("c++", "c++", "c++17"), ("clang", "c", "c99"),
        ("clang++", "c++", "c++17"),
    ])
    func theHeaderIsCleanCAndCPlusPlus(compiler: String, language: String, standard: String) throws {
        let outcome = try Self.run(
            compiler,
            "-x",
            language,
            "-std=\(standard)",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-fsyntax-only",
            "-",
            input: Self.program
        )
        #expect(outcome.status == 0, "\(outcome.text)")
    }

    /// The symbols of the interface in the library that was built with the tests. What else it exports, Swift's own, is no
    /// part of it; `scripts/plugin.sh` hides that.
    @Test func theLibraryExportsTheCommittedSymbols() throws {
        let directory = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let library = directory.appendingPathComponent("libPressureKitC.so")
        try #require(FileManager.default.fileExists(atPath: library.path), "swift build --build-tests makes it")
        let outcome = try Self.run("nm", "-D", "--defined-only", library.path)
        let exported = outcome.text.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            guard words.count == 3, words[1] == "T", words[2].hasPrefix("pressurekit_") else { return nil }
            return String(words[2])
        }
        #expect(exported.sorted() == (try Self.lines("symbols.txt")))
    }

    @Test func theHeaderDeclaresTheCommittedSymbols() throws {
        let text = try String(contentsOf: Self.header, encoding: .utf8)
            .replacing(/(?s)\/\*.*?\*\//, with: "").replacing(/(?s)typedef[^;{]*;/, with: "")
        let declared = Set(text.matches(of: /\b(pressurekit_[a-z_]+)\(/).map { String($0.output.1) })
        #expect(declared.sorted() == (try Self.lines("symbols.txt")))
    }

    /// A program that was built with an earlier version has these in its machine code.
    @Test func structuresAndNumbersStayAsTheyAre() {
        #expect(PRESSUREKIT_ABI_VERSION == 2)
        #expect(pressurekit_abi_version() == 2)
        #expect(unsafe MemoryLayout<pressurekit_options>.size == 72)
        #expect(unsafe MemoryLayout<pressurekit_options>.offset(of: \.flags) == 32)
        #expect(unsafe MemoryLayout<pressurekit_options>.offset(of: \.reserved) == 40)
        #expect(unsafe MemoryLayout<pressurekit_cache_options>.size == 64)
        #expect(unsafe MemoryLayout<pressurekit_cache_options>.offset(of: \.context) == 24)
        #expect(MemoryLayout<pressurekit_report>.size == 56)
        #expect(MemoryLayout<pressurekit_report>.offset(of: \.nanoseconds) == 48)
        #expect(MemoryLayout<pressurekit_statistics>.size == 128)
        #expect(MemoryLayout<pressurekit_statistics>.offset(of: \.score) == 16)
        #expect(MemoryLayout<pressurekit_statistics>.offset(of: \.failures) == 120)
        // New in version 2.
        #expect(unsafe MemoryLayout<pressurekit_keyed_options>.size == 80)
        #expect(unsafe MemoryLayout<pressurekit_keyed_options>.offset(of: \.limit_bytes) == 32)
        #expect(unsafe MemoryLayout<pressurekit_warning>.size == 32)
        #expect(unsafe MemoryLayout<pressurekit_warning>.offset(of: \.reason) == 24)
        #expect(MemoryLayout<pressurekit_state_report>.size == 48)
        let statuses = [
            PRESSUREKIT_OK, PRESSUREKIT_BAD_ARGUMENT, PRESSUREKIT_BAD_HANDLE, PRESSUREKIT_IN_USE, PRESSUREKIT_NO_VALUE,
            PRESSUREKIT_LOAD_FAILED, PRESSUREKIT_RESTORE_FAILED, PRESSUREKIT_RECURSIVE, PRESSUREKIT_DUPLICATE,
            PRESSUREKIT_UNAVAILABLE, PRESSUREKIT_SHUT_DOWN, PRESSUREKIT_STATE_REFUSED,
        ]
        #expect(statuses.map { Int($0) } == Array((-11...0).reversed()))
        #expect([PRESSUREKIT_NORMAL, PRESSUREKIT_WARNING, PRESSUREKIT_CRITICAL].map { Int($0) } == [0, 1, 2])
        #expect([PRESSUREKIT_NO_WATCH, PRESSUREKIT_ALLOW_MEMORY_SPILL].map { Int($0) } == [1, 2])
    }
}
#endif
