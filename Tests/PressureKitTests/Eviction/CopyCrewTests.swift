import CLinuxShims
import Foundation
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSystem

@Suite struct CopyCrewTests {
    /// On a busy machine the leader would wait for a helper that nobody lets run.
    @Test(.timeLimit(.minutes(1))) func helpersRunAsSoonAsTheirLeader() throws {
        let others = Self.priorities("pk-copy-1").keys
        let soon = Lock<CInt?>(nil)
        try WorkerThread.spawn("test") {
            _ = pk_run_soon()
            soon.withLock { $0 = getpriority(CInt(PRIO_PROCESS.rawValue), 0) }
        }
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.workers = 2 }
        // Threads first start, then name themselves; what does not come is found by the time limit.
        while true {
            let helpers = Self.priorities("pk-copy-1").filter { !others.contains($0.key) }
            if let soon = soon.withLock({ $0 }), helpers.values.contains(soon) { break }
            usleep(1_000)
        }
        withExtendedLifetime(manager) {}
    }

    /// Of the threads with a name, by their numbers.
    private static func priorities(_ name: String) -> [String: CInt] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        let named = threads.filter {
            (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == name + "\n"
        }
        return Dictionary(
            uniqueKeysWithValues: named.map { ($0, getpriority(CInt(PRIO_PROCESS.rawValue), id_t($0) ?? 0)) }
        )
    }
}
