import CAllocationCounter
import PressureKit

/// Whether the tool was built with the trait `Encryption`.
let canSeal: Bool = {
    #if Encryption
    true
    #else
    false
    #endif
}()

/// Managers as the bench uses them, and their reclaims.
enum BenchManager {
    /// A manager that watches nothing: reclaims happen when the bench asks for them. Without a choice of compression it
    /// decides as it does by default. It seals what it spills only when that is asked for, and only where the tool was
    /// built with the trait `Encryption`.
    static func make(
        directory: String,
        compression: CompressionChoice? = .adaptive,
        seals: Bool = false
    ) throws -> PressureManager {
        var configuration = PressureConfiguration()
        configuration.sources = []
        configuration.spillDirectory = directory
        configuration.compression = compression
        #if Encryption
        configuration.encryptsSpills = seals
        #endif
        if pk_allocations_are_counted() { configuration.allocationProbe = { Int(pk_thread_allocations()) } }
        return try PressureManager(configuration: configuration)
    }
}

/// What all reclaims of a run have to say about allocations and memory returned.
final class ReclaimLog {
    /// Below this, what else happens in the process weighs too much beside what is returned.
    static let least = ByteCount.mebibytes(16)

    private var reports: [EvictionReport] = []

    /// Frees all that is not in use and notes the report.
    ///
    /// - Throws: ``BenchRefusal`` when something stayed in memory: its time says nothing then.
    func reclaim(_ manager: PressureManager) throws -> EvictionReport {
        let report = Blocking.wait { await manager.simulateMemoryWarning(.critical) }
        if let failure = report.failures.first { throw BenchRefusal(description: "\(failure)") }
        guard report.skipped.isEmpty else {
            throw BenchRefusal(description: "\(report.skipped.count) values stayed in memory during a reclaim.")
        }
        reports.append(report)
        return report
    }

    var results: [BenchResult] {
        let large = reports.filter { $0.claimed >= Self.least }
        let worst = large.min { $0.returnedOverClaimed < $1.returnedOverClaimed }
        return [
            BenchResult(.reclaimAllocations, value: reports.compactMap(\.allocations).max().map(Double.init)),
            BenchResult(
                .returnedOverClaimed,
                value: worst.map { Double($0.returned.bytes) },
                limit: worst.map { Double($0.claimed.bytes) }
            ),
        ]
    }
}
