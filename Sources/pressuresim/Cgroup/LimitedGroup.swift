import Foundation
import Glibc
import PressureKit
import Synchronization

/// A cgroup of the tool's own with a limit, for as long as a demonstration or a measurement takes.
///
/// Version 1: below the cgroup the tool is in, so that nobody gets out of the limits he was given. Version 2 allows no
/// processes beside child cgroups that have controllers, so it is made at the root of what is mounted.
final class LimitedGroup: Sendable {
    let group: MemoryGroup
    /// Its name, unique on this machine.
    let name: String
    /// Beside a cgroup of version 1, one of version 2 without a limit, if that can be made: stalled time is counted there
    /// for each cgroup, and in version 1 for the whole machine only.
    private let companion: String?

    /// Makes the cgroup.
    ///
    /// - Throws: ``EnvironmentRefusal`` that says what is missing.
    convenience init(limit: ByteCount) throws(EnvironmentRefusal) {
        guard let (parent, companion) = Self.places else {
            throw EnvironmentRefusal(
                message: """
                    No cgroup memory controller is mounted here. Run on a host, or in a container, that has one at \
                    /sys/fs/cgroup.
                    """
            )
        }
        try self.init(
            limit: limit,
            parent: parent.directory,
            version: parent.version,
            companionParent: companion?.directory
        )
    }

    /// Below which cgroups they are made; `nil` where there are none.
    private static var places: (parent: MemoryGroup, companion: MemoryGroup?)? {
        let ancestry = MemoryGroup.ancestry()
        guard let own = ancestry.first, let top = ancestry.last else { return nil }
        return own.version == .v1 ? (own, MemoryGroup.unified().first) : (top, nil)
    }

    /// Makes the cgroup below a directory.
    init(
        limit: ByteCount,
        parent: String,
        version: MemoryGroup.Version,
        companionParent: String? = nil
    ) throws(EnvironmentRefusal) {
        Self.sweep(parent)
        let name = "\(Maker.own.prefix)\(Self.number())"
        self.name = name
        group = MemoryGroup(directory: "\(parent)/\(name)", version: version)
        companion = companionParent.flatMap { parent in
            Self.sweep(parent)
            let path = "\(parent)/\(name)"
            let manager = FileManager.default
            return (try? manager.createDirectory(atPath: path, withIntermediateDirectories: false)).map { path }
        }
        do {
            if version == .v2, let controllers = KernelText.read("\(parent)/cgroup.subtree_control"),
                !controllers.split(whereSeparator: \.isWhitespace).contains("memory")
            {
                try KernelText.write("+memory", to: "\(parent)/cgroup.subtree_control")
            }
            try FileManager.default.createDirectory(atPath: group.directory, withIntermediateDirectories: false)
            try group.setLimit(limit)
        } catch {
            remove()
            throw Self.refusal(limit, parent, error.reason)
        }
    }

    /// Why there is none, and what to do first.
    static func refusal(
        _ limit: ByteCount,
        _ parent: String,
        _ reason: String,
        isRoot: Bool = geteuid() == 0
    ) -> EnvironmentRefusal {
        let first = isRoot ? "" : "Run as root. "
        return EnvironmentRefusal(
            message: """
                \(first)No cgroup with a limit of \(limit) can be made below \(parent): \(reason). It takes a memory \
                controller that may be written to: on the host, or in a container with --privileged.
                """
        )
    }

    deinit { remove() }

    /// Those that exist, for when the tool is told to end.
    private static let existing = Lock<[String: LimitedGroup]>([:])
    private static let isInterrupted = Atomic<Bool>(false)

    /// Keeps the cgroup in mind for as long as `body` runs, and removes it then, also when the tool is interrupted.
    ///
    /// - Throws: what `body` throws.
    func removedAfter<Result>(_ body: () throws -> Result) rethrows -> Result {
        Self.existing.withLock { $0[name] = self }
        defer {
            remove()
            // Then the tool ends on the thread that was told so, and has nothing to say about what it killed.
            while Self.isInterrupted.load(ordering: .acquiring) { Pause.sleep(.seconds(1)) }
            Self.existing.withLock { $0[name] = nil }
        }
        return try body()
    }

    /// Removes all that exist, for good: whoever waits for the end of one goes on waiting, so that nothing is said about
    /// what was killed. For a tool that is about to end.
    static func removeAll() {
        isInterrupted.store(true, ordering: .releasing)
        for group in existing.withLock({ Array($0.values) }) { group.remove() }
    }

    /// The files that a process writes its number to, to get in.
    var entrances: [String] { ([group.directory] + [companion].compactMap(\.self)).map { "\($0)/cgroup.procs" } }

    /// Kills what is left in the cgroup and removes it. Only processes of the tool's own can be in it.
    func remove() { Self.clear([group.directory] + [companion].compactMap(\.self)) }

    /// Removes what runs that were killed have left behind.
    static func sweep() {
        guard let (parent, companion) = places else { return }
        sweep(parent.directory)
        if let companion { sweep(companion.directory) }
    }

    private static func sweep(_ parent: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] {
            if let maker = Maker(of: name), maker.isGone { clear(["\(parent)/\(name)"]) }
        }
    }

    private static func clear(_ directories: [String]) {
        for _ in 0..<200 {
            var areGone = true
            for directory in directories {
                for process in MemoryGroup(directory: directory, version: .v1).processes { kill(process, SIGKILL) }
                if !removeDirectory(directory) { areGone = false }
            }
            if areGone { return }
            Pause.sleep(.milliseconds(10))
        }
    }

    /// Whether it is gone now. Fails while there are processes in it.
    private static func removeDirectory(_ path: String) -> Bool {
        unsafe rmdir(path) == 0 || errno == ENOENT  // the string outlives the call
    }

    private static let counter = Lock(0)

    private static func number() -> Int {
        counter.withLock {
            $0 += 1
            return $0
        }
    }
}
