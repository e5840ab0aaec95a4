import CLinuxShims
import Glibc
import PressureSystem

/// A board as somebody sees it who has no slot on it.
package struct BoardSurvey: Sendable {
    /// A process on it.
    package struct Process: Sendable {
        /// What it says of itself.
        package var slot: BoardSlot
        /// The part of the room that is its own, 0 … 1, as far as it could use it.
        package var part: Double
        /// What that comes to, in bytes.
        package var budget: Int
    }

    /// The file.
    package var path: String
    /// The device and inode of the cgroup's directory.
    package var cgroup: (device: UInt64, inode: UInt64)
    /// The newest shortage.
    package var shortage: BoardShortage
    /// Who is there.
    package var processes: [Process]

    /// All boards of this user. Reads files; allocates. What is no board, or of somebody else, is passed over.
    package static func all(_ context: SignalContext = SignalContext()) -> [BoardSurvey] {
        Neighbours.directories(context).flatMap { directory -> [BoardSurvey] in
            guard let names = try? LinuxFileSystem().names(in: directory) else { return [] }
            return names.sorted().compactMap { read(directory, $0) }
        }
    }

    private static func read(_ directory: String, _ name: String) -> BoardSurvey? {
        let prefix = BoardFile.prefix
        guard name.hasPrefix(prefix) else { return nil }
        let parts = name.dropFirst(prefix.count).split(separator: "-")
        guard parts.count == 3, parts[0] == "\(geteuid())", let device = UInt64(parts[1], radix: 16),
            let inode = UInt64(parts[2], radix: 16)
        else { return nil }
        let path = "\(directory)/\(name)"
        // The string outlives the call.
        let descriptor = unsafe pk_open_shared(path, false)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var slots: [BoardSlot] = []
        var shortage: BoardShortage?
        let isRead = BoardFile.read(descriptor) { header, slot in
            shortage = BoardShortage(header)
            for place in 0..<BoardLayout.slots where BoardFile.isHeld(descriptor, place) {
                if let slot = BoardSlot(slot(place)) { slots.append(slot) }
            }
        }
        guard isRead, let shortage else { return nil }
        return BoardSurvey(
            path: path,
            cgroup: (device, inode),
            shortage: shortage,
            processes: divide(slots)
        )
    }

    /// How the room would be divided if all of it were in use.
    private static func divide(_ slots: [BoardSlot]) -> [Process] {
        let members = slots.map { slot in
            ShortageShares.Member(
                held: slot.held,
                free: min(slot.free, slot.held),
                dirty: min(slot.dirty, slot.held - min(slot.free, slot.held)),
                claim: slot.claim,
                floor: slot.floor
            )
        }
        let claims = slots.reduce(0) { $0 + $1.claim }
        let shares = ShortageShares(of: 0, among: members.span)
        return zip(slots, members).map { slot, member in
            Process(slot: slot, part: claims > 0 ? slot.claim / claims : 0, budget: shares.budget(member))
        }
    }
}
