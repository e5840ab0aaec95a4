import Foundation
import Glibc
import PressureKit
import Testing

@testable import pressuresim

/// Messages name options and keys, and what the system said: no name of Swift's, and none of Foundation's.
@Suite struct ToolWordsTests {
    @Test func theLibrarysRemediesAreTheTools() throws {
        for directory in ["/no/such/directory", "/dev/shm"] {
            var configuration = PressureConfiguration()
            configuration.spillDirectory = directory
            do {
                _ = try PressureManager(configuration: configuration)
            } catch {
                let words = EnvironmentRefusal(error).message
                #expect(words.contains("--spill-directory"), "\(words)")
                #expect(!words.contains("spillDirectory") && !words.contains("allowsMemoryBackedSpill"), "\(words)")
            }
        }
        #expect(throws: PressureError.self) {
            var configuration = PressureConfiguration()
            configuration.spillDirectory = "/no/such/directory"
            _ = try PressureManager(configuration: configuration)
        }
    }

    /// What a step asked for needs no method's name; what another process or the machine did is told as it is.
    @Test(arguments: [
        (PressureCause.Origin.simulated, "simulateMemoryWarning", "normal → critical: simulated"),
        (.background, "enterBackground", "normal → critical: background"),
        (.simulated, "control socket", "normal → critical: simulated (control socket)"),
        (.memoryInfo, "/proc/meminfo", "normal → critical: meminfo (/proc/meminfo)"),
    ])
    func aStepIsNoMethod(origin: PressureCause.Origin, source: String, words: String) {
        let cause = PressureCause(origin: origin, source: source, levelBefore: .normal, levelAfter: .critical)
        #expect(cause.wordsForTool == words)
        #expect(ReclaimRecord(EvictionReport.empty(cause), at: .zero, rssFall: nil).cause == words)
    }

    @Test func theSystemsReasonIsTold() {
        func reason(_ body: () throws -> Void) -> String {
            do {
                try body()
                return "none"
            } catch {
                return error.reason
            }
        }
        let (none, directory) = (URL(fileURLWithPath: "/no/such/file"), URL(fileURLWithPath: "/tmp"))
        #expect(reason { _ = try Data(contentsOf: none) } == "No such file or directory")
        #expect(reason { try Data().write(to: none) } == "No such file or directory")
        #expect(reason { try FileDescriptorOutput.write(Data(), toFile: directory.path) } == "Is a directory")
        #expect(
            reason { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false) }
                == "File exists"
        )
        let process = Process()
        process.executableURL = none
        #expect(reason { try process.run() } == "No such file or directory")
    }

    @Test func whyAValueStayedIsASentence() {
        for reason in EvictionReport.SkipReason.allCases {
            let words = EvictionReport.SkipReason.words(reason.rawValue)
            #expect(words.contains(" "), "\(words)")
            #expect(words == words.lowercased())
        }
        #expect(EvictionReport.SkipReason.words("later") == "later")
    }

    @Test func programsAreFoundAsTheShellFindsThem() {
        #expect(ProgramSearch.finds("sh"))
        #expect(ProgramSearch.finds("/bin/sh"))
        for name in ["nosuchprogram", "/bin", "bin/sh", "/etc/passwd"] {
            #expect(!ProgramSearch.finds(name), "\(name)")
        }
    }

    /// Before anything is measured: nothing is printed.
    @Test(arguments: [
        (
            ["bench", "--tiny", "--spill-directory", "/no/such"], Int32(3),
            "/no/such cannot be written to: No such file"
        ),
        (["bench", "--tiny", "--corpus", "/no/such"], 2, "Name another directory: --corpus DIRECTORY."),
        (["soak", "--duration", "10s", "--beside", "nosuchprogram -x"], 2, "there is no program nosuchprogram"),
    ])
    func whatCannotBeIsToldAtTheStart(arguments: [String], status: Int32, words: String) throws {
        let outcome = try Tool.run(arguments)
        #expect(outcome.status == status)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }

    @Test func aPipeThatNobodyReadsIsNotWaitedFor() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("small.yaml")
            try Data(smallScenario.utf8).write(to: file)
            let pipe = directory.appendingPathComponent("pipe").path
            // The string outlives the call.
            #expect(unsafe mkfifo(pipe, 0o600) == 0)
            let outcome = try Tool.run(["run", "--virtual", file.path, "--json", pipe])
            #expect(outcome.status == 3)
            #expect(outcome.errors.contains("nobody reads it"), "\(outcome.errors)")
        }
    }
}
