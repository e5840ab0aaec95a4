import PressureKit
import PressureKitTesting
import Testing

@testable import Notebook

@Test func aWarningTakesTheIndexAndKeepsTheNotes() async throws {
    let manager = try PressureManager(configuration: .testing())  // a disk in memory, and no signals but ours
    let notebook = try Notebook(in: manager)
    notebook.begin("Groceries")
    #expect(try notebook.write("tea") && notebook.find("tea") == ["Groceries"])
    try await expectNoLoss(in: manager) {
        await manager.simulateMemoryWarning(.critical)
        #expect(!notebook.isIndexed && notebook.notes.residency(for: "Groceries") == .spilled)
    }
}
