package import PressureSystem

/// What one cgroup uses and may use. Pure.
package struct CgroupUsage: Hashable, Sendable {
    /// What is charged to it and those below, page cache included.
    package var used: ByteCount
    /// The part of it that goes when memory is short: see ``reclaimable(inactiveFile:activeFile:unwritten:limit:)``.
    package var reclaimable: ByteCount
    /// The part of it that would, if it were written.
    package var unwritten: ByteCount
    /// The part of it that would, if it had not been used lately.
    package var kept: ByteCount
    /// The limit that bites first; `nil` for none.
    package var limit: ByteCount?

    /// Creates a record.
    package init(
        used: ByteCount,
        reclaimable: ByteCount,
        unwritten: ByteCount = .zero,
        kept: ByteCount = .zero,
        limit: ByteCount?
    ) {
        self.used = used
        self.reclaimable = reclaimable
        self.unwritten = unwritten
        self.kept = kept
        self.limit = limit
    }

    /// Creates a record of what `memory.stat` says of the page cache; see
    /// ``reclaimable(inactiveFile:activeFile:unwritten:limit:)``.
    init(used: Int, inactiveFile: Int, activeFile: Int, unwritten: Int, limit: ByteCount?) {
        func reclaimable(unwritten: Int) -> ByteCount {
            Self.reclaimable(inactiveFile: inactiveFile, activeFile: activeFile, unwritten: unwritten, limit: limit)
        }
        let (now, written) = (reclaimable(unwritten: unwritten), reclaimable(unwritten: 0))
        self.init(
            used: .bytes(used),
            reclaimable: now,
            unwritten: written - now,
            kept: .bytes(inactiveFile + activeFile) - written,
            limit: limit
        )
    }

    /// What may still be taken; `nil` without a limit.
    package var headroom: Headroom? {
        guard let limit else { return nil }
        // Read one after the other, the two need not fit together.
        let cache = min(max(.zero, reclaimable), used)
        return Headroom(
            available: limit - (used - cache),
            limit: limit,
            unwritten: unwritten,
            kept: kept,
            pageCache: cache
        )
    }

    /// The page cache that can go without harm: all that was not used lately, and half of what was.
    ///
    /// kubelet and cAdvisor count the first only, and so take a process that writes files for one that is short: Linux
    /// 6.18 calls a large folio used when it is written in two steps, so that a stream of four times the limit leaves all
    /// of the cache "active" (measured). The kernel itself, in its `MemAvailable`, keeps half of the page cache back at
    /// most. Neither number has tmpfs or shared memory in it.
    ///
    /// - Parameters:
    ///   - unwritten: of the page cache what is dirty or under write-back. The kernel has to write it before it can go, and
    ///     whoever needs memory meanwhile waits for the disk or is killed: no headroom, up to a fifth of the limit. Beyond
    ///     that the kernel has the writer wait (`vm.dirty_ratio` is 20): somebody who writes a large file is no shortage.
    ///   - limit: what the page cache counts against; `nil` for none.
    package static func reclaimable(
        inactiveFile: Int,
        activeFile: Int,
        unwritten: Int = 0,
        limit: ByteCount?
    ) -> ByteCount {
        ByteCount(bytes: max(0, inactiveFile + activeFile / 2 - min(unwritten, (limit?.bytes ?? .max) / 5)))
    }

    /// Reads `memory.max` and `memory.high`: a number, or `max` for none. A limit of 0 is one byte, since there is no part
    /// of nothing. Pure; allocates nothing; any bytes are safe.
    ///
    /// - Returns: `nil` for no limit, and for what is none, among it the huge number by which version 1 says "none".
    package static func limit(_ text: borrowing Span<UInt8>) -> ByteCount? {
        guard let (number, _) = text.decimal(in: 0..<text.count), number <= Headroom.largestLimit.bytes else {
            return nil
        }
        return ByteCount(bytes: max(1, number))
    }
}
