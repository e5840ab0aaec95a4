import Glibc
import PressureKit
import PressureKitTesting
import Testing

@testable import Notebook

/// What an app can test with the public interface alone.
@Suite struct NotebookTests {
    @Test func everythingIsThereAfterARelaunch() async throws {
        let disk = InMemoryFileSystem()
        do {
            let manager = try PressureManager(configuration: .testing(disk: disk))
            let notebook = try Notebook(in: manager)
            notebook.begin("Monday")
            _ = try notebook.write("rain")
            notebook.begin("Tuesday")
            try await manager.saveState(to: "/var/tmp/notebook", version: "1")
        }
        let manager = try PressureManager(configuration: .testing(disk: disk))
        let notebook = try Notebook(in: manager)
        try await manager.restoreState(from: "/var/tmp/notebook", version: "1")
        #expect(notebook.titles == ["Monday", "Tuesday"] && notebook.openTitle == "Tuesday")
        #expect(try await notebook.notes.value(for: "Monday") == "rain\n")
    }

    @Test func pressureThatLastsIsAnsweredEachTime() async throws {
        let clock = ManualClock()
        let marbles = MarbleSource("nnwwccc", clock: clock)
        let manager = try PressureManager(configuration: .testing(clock: clock, sources: [marbles.pressureSource]))
        let notebook = try Notebook(in: manager)
        notebook.begin("Wednesday")
        _ = try notebook.write("sun")
        try await expectNoLoss(in: manager) {
            #expect(await manager.play(marbles) == "nnwwccc")
            #expect(notebook.notes.residency(for: "Wednesday") == .spilled)
        }
    }

    @Test func aDiskThatFailsAnywhereLosesNothing() async throws {
        let runs = try await FaultyFileSystem.forEachCall(failingWith: .error(EIO), on: .write) { disk in
            // On a disk that fails at once there is none.
            guard let manager = try? PressureManager(configuration: .testing(disk: disk)) else { return }
            let notebook = try Notebook(in: manager)
            for day in ["Thursday", "Friday"] {
                notebook.begin(day)
                _ = try notebook.write(String(repeating: "snow ", count: 20_000))
            }
            try await expectNoLoss(in: manager) { await manager.simulateMemoryWarning(.critical) }
        }
        #expect(runs > 0)
    }
}
