import Foundation
import Glibc
import PressureKit
import Synchronization

/// Looks every second, from outside, at what a process holds: what it says of itself is no evidence.
final class SoakObserver: Sendable {
    /// What it held at one moment.
    struct Sight: Hashable, Sendable {
        var residentBytes: Int
        var descriptors: Int
        /// Blocks of files without a name: the spill file.
        var spillBytes: Int
        /// What its cgroup used, the page cache included.
        var cgroupBytes: Int
    }

    private let process: Int32
    private let group: MemoryGroup
    private let isWatching = Atomic<Bool>(true)
    private let sights = Lock<[Sight]>([])

    /// Begins to look.
    ///
    /// - Throws: `PressureError` where no thread is left.
    init(_ process: Int32, in group: MemoryGroup) throws {
        self.process = process
        self.group = group
        try WorkerThread.spawn("witness") { [self] in
            while isWatching.load(ordering: .relaxed) {
                if let sight = look() { sights.withLock { $0.append(sight) } }
                Pause.sleep(.seconds(1))
            }
        }
    }

    /// Looks no more.
    func end() { isWatching.store(false, ordering: .relaxed) }

    /// What was seen since this was last asked.
    func take() -> [Sight] {
        sights.withLock { sights in
            defer { sights = [] }
            return sights
        }
    }

    /// `nil` once the process has ended.
    private func look() -> Sight? {
        guard let resident = ProcessMemory.field("VmRSS", of: "/proc/\(process)/status"),
            let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
        else { return nil }
        var blocks = 0
        for name in names {
            var facts = stat()
            // The string outlives the call. The link leads to the file, name or not.
            guard unsafe stat("/proc/\(process)/fd/\(name)", &facts) == 0 else { continue }
            if facts.st_mode & S_IFMT == S_IFREG, facts.st_nlink == 0 { blocks += Int(facts.st_blocks) }
        }
        return Sight(
            residentBytes: resident.bytes,
            descriptors: names.count,
            spillBytes: blocks * 512,
            cgroupBytes: group.usage?.bytes ?? 0
        )
    }
}
