/// What one cgroup uses and may use. Pure.
package struct CgroupUsage: Hashable, Sendable {
    /// What is charged to it and those below, page cache included.
    package var used: ByteCount
    /// Page cache that was not used lately, and goes when memory is short. Usage without it is what kubelet and cAdvisor
    /// call the working set; all of the page cache would be too much, for it has shared memory and tmpfs in it.
    package var inactiveFile: ByteCount
    /// The limit that bites first; `nil` for none.
    package var limit: ByteCount?

    /// Creates a record.
    package init(used: ByteCount, inactiveFile: ByteCount, limit: ByteCount?) {
        self.used = used
        self.inactiveFile = inactiveFile
        self.limit = limit
    }

    /// What may still be taken; `nil` without a limit.
    package var headroom: Headroom? {
        guard let limit else { return nil }
        // Read one after the other, the two need not fit together.
        let workingSet = used - min(max(.zero, inactiveFile), used)
        return Headroom(available: limit - workingSet, limit: limit)
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
