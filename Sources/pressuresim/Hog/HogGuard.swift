import PressureKit

/// Memory that a hog would take from: the host's, or what a cgroup still allows.
struct MemoryRoom: Hashable, Sendable {
    /// As a message names it: `"the host"`, or a cgroup's path.
    var name: String
    /// What can still be taken.
    var available: ByteCount
    /// What it is a part of.
    var limit: ByteCount
    /// What a hog leaves for everybody else, unless it is forced.
    var reserve: ByteCount

    /// The host's memory. A twentieth is left, which is below the library's critical threshold, so that a hog can make a
    /// whole machine critical without bringing it down.
    static func host(available: ByteCount, total: ByteCount) -> MemoryRoom {
        let reserve = min(max(total.bytes / 20, MemoryFill.floor.bytes), 512 << 20)
        return MemoryRoom(name: "the host", available: available, limit: total, reserve: .bytes(reserve))
    }

    /// A cgroup, whose processes are killed when nothing is left.
    static func cgroup(_ path: String, available: ByteCount, limit: ByteCount) -> MemoryRoom {
        let reserve = min(max(limit.bytes / 20, 8 << 20), 512 << 20)
        return MemoryRoom(name: "cgroup \(path)", available: available, limit: limit, reserve: .bytes(reserve))
    }
}

/// Whether a hog may take what it is asked to.
enum HogGuard {
    /// - Throws: ``EnvironmentRefusal`` that names the place with the least room.
    static func check(ceiling: ByteCount, rooms: [MemoryRoom]) throws(EnvironmentRefusal) {
        guard let tightest = rooms.min(by: { $0.spare < $1.spare }), tightest.spare < ceiling else { return }
        let most = max(tightest.spare, .zero)
        throw EnvironmentRefusal(
            message: """
                \(ceiling) would endanger \(tightest.name): \(tightest.available) of \(tightest.limit) are available, and \
                \(tightest.reserve) are to be left. \(most > .zero ? "Take at most \(most)" : "Take nothing"), or say \
                --force, and processes may be killed.
                """
        )
    }

    /// The first place in which less is left than the hog is to leave.
    static func exhausted(_ rooms: [MemoryRoom]) -> MemoryRoom? { rooms.first { $0.available < $0.reserve } }
}

extension MemoryRoom {
    /// What a hog may take here.
    var spare: ByteCount { available - reserve }

    /// The places that this process takes memory from, as they are now.
    static func current() -> [MemoryRoom] {
        var rooms: [MemoryRoom] = []
        if let available = ProcessMemory.available, let total = ProcessMemory.total {
            rooms.append(.host(available: available, total: total))
        }
        for group in MemoryGroup.ancestry() {
            guard let limit = group.limit, let available = group.available else { continue }
            rooms.append(.cgroup(group.directory, available: available, limit: limit))
        }
        return rooms
    }
}
