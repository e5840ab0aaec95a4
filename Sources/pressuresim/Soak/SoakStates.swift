import PressureKit
import SampleContent

/// Saved states, in two directories by turns: while one manager writes one of them, another reads the other.
final class SoakStates: Sendable {
    private let notes: KeyedCache<Int, [UInt8]>
    private let base: String
    private let spillDirectory: String?
    private let number = Lock(0)

    init(_ controller: PressureController, _ plan: SoakPlan) throws {
        notes = try Self.notes(of: controller)
        spillDirectory = plan.directory
        base = plan.states ?? TemporaryDirectory.usualPlace
    }

    /// Changes all notes, saves them, and compares what a new manager makes of the state before.
    ///
    /// - Returns: what is wrong; `nil` if nothing is.
    func saveAndCompare(_ manager: PressureManager) async -> String? {
        let number = number.withLock { number in
            defer { number += 1 }
            return number
        }
        do {
            for key in 0..<SoakPlan.notes { notes.set(Self.note(key, number), for: key) }
            let report = try await manager.saveState(to: directory(number), version: "\(number)")
            guard report.failures.isEmpty else { return "a saved state left something out: \(report.failures)" }
            // By saving elsewhere the manager has let go of it.
            return number > 0 ? try await compare(number - 1) : nil
        } catch {
            return "saved state \(number): \(error.words)"
        }
    }

    private func compare(_ number: Int) async throws -> String? {
        var configuration = PressureConfiguration()
        configuration.spillDirectory = spillDirectory
        configuration.workers = 1
        let manager = try PressureManager(configuration: configuration)
        let controller = PressureController("soak")
        try manager.root.addChild(controller)
        let notes = try Self.notes(of: controller)
        let report = try await manager.restoreState(from: directory(number), version: "\(number)")
        var complaint: String?
        if !report.isFound || report.caches.isEmpty { complaint = "saved state \(number) is not there: \(report)" }
        for key in 0..<SoakPlan.notes where complaint == nil {
            let isRight = try await notes.value(for: key) == Self.note(key, number)
            if !isRight { complaint = "note \(key) of saved state \(number) has come back changed" }
        }
        await manager.shutdown()
        return complaint
    }

    private func directory(_ number: Int) -> String { "\(base)/\(number % 2)" }

    private static func notes(of controller: PressureController) throws -> KeyedCache<Int, [UInt8]> {
        try controller.keyedCache("notes", key: Int.self, value: [UInt8].self)
    }

    /// A note's bytes in the save of this number.
    private static func note(_ key: Int, _ number: Int) -> [UInt8] {
        var random = SplitMix64(seed: UInt64(number), stream: UInt64(key))
        return (0..<(4096 + 64 * key)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
}
