@testable import PressureSignals
@testable import PressureSystem

extension Neighbours {
    /// Those of a process on a board in memory.
    convenience init(on board: InMemoryBoard, books: MemoryBooks, process: ProcessMemory = ProcessMemory()) {
        self.init(
            share: MemoryShare(),
            thresholds: PressureThresholds(),
            books: books,
            process: process,
            open: { (_: String) throws(BoardFile.Refusal) in try board.join() }
        )
    }
}
