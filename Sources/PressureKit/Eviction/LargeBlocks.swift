import CLinuxShims
import PressureSystem
import Synchronization

/// Blocks of the C heap that are large for the limit on memory: each a mapping of its own, so that a value that leaves is memory
/// that comes back.
///
/// glibc begins with that for blocks of 128 KiB, and takes larger ones from its heaps as soon as one was freed, up to 32 MiB
/// (malloc(3), `M_MMAP_THRESHOLD`, "dynamic"). A heap keeps twice as much free at its end, and there is one for each few threads:
/// below 64 MiB, 8 readers of values of 4 MiB were killed with nothing in the cache. What is small for the limit goes on as before.
struct LargeBlocks: Sendable {
    /// A heap may keep this part of the limit.
    private static let part = 64
    /// The least and the most that glibc would come to by itself.
    private static let bounds = 1 << 20...32 << 20

    private static let last = Atomic<Int>(0)

    /// Whether the environment says how it is to be.
    private let isStated: Bool

    /// - Parameter environment: The variables of the process, read when a manager is made; `nil` to read them now.
    init(environment: [String: String]?) {
        let names = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES")
        let variables = environment ?? ProcessEnvironment.variables(names.0, names.1, names.2)
        let tunables = variables[names.2] ?? ""
        isStated =
            variables[names.0] != nil || variables[names.1] != nil || tunables.contains("malloc.mmap_threshold")
            || tunables.contains("malloc.trim_threshold")
    }

    /// Tells the C library, which is the process's, if it has to be told. Takes its lock; allocates nothing.
    func follow(_ limit: ByteCount) {
        let length = Self.length(below: limit.bytes)
        guard !isStated, Self.last.exchange(length, ordering: .relaxed) != length else { return }
        pk_map_blocks_from(CInt(length), CInt(Self.kept(below: limit.bytes)))
    }

    /// From how many bytes on a block is large.
    static func length(below limit: Int) -> Int { min(max(limit / part, bounds.lowerBound), bounds.upperBound) }

    /// What a heap may keep free at its end: from what glibc begins with (128 KiB) up to what it keeps after a block of 1 MiB was
    /// freed. Sixteen heaps that do have a sixteenth of the limit.
    static func kept(below limit: Int) -> Int { min(max(limit / 256, 128 << 10), 2 << 20) }
}
