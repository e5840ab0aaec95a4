#if Redis
/// What a saved state's record says: where its bytes are, and for people, whose they were. Pure.
package struct RedisStateRecord: Hashable, Sendable {
    /// Bytes of a string of a state, but for the last: as long as those that values are spilled to.
    package static let segmentLength = RedisSegments.segmentLength
    /// No state is longer: what servers keep in memory is not, and a record can claim any length.
    package static let mostBytes = 1 << 40

    package var generation: String
    /// Bytes of the state.
    package var bytes: Int
    /// When it was saved, in seconds of the server's clock.
    package var saved: Int
    package var host: String
    package var pid: Int

    package init(generation: String, bytes: Int, saved: Int, host: String, pid: Int) {
        self.generation = generation
        self.bytes = bytes
        self.saved = saved
        self.host = host
        self.pid = pid
    }

    /// The names of its fields, in the order in which ``init(_:)`` is given them.
    static let fields = ["generation", "bytes", "saved", "host", "pid"]

    /// Reads the fields as the server has them, empty where there are none; `nil` when there is no record. A number that is
    /// none counts as 0: then what is there is no state, and is refused as on disk.
    init?(_ found: [String]) {
        guard found.count == Self.fields.count, !found[0].isEmpty else { return nil }
        let bytes = Int(found[1]) ?? 0
        self.init(
            generation: found[0],
            bytes: 0...Self.mostBytes ~= bytes ? bytes : 0,
            saved: Int(found[2]) ?? 0,
            host: found[3],
            pid: Int(found[4]) ?? 0
        )
    }

    /// Names and values, taking turns.
    var words: [String] {
        zip(Self.fields, [generation, "\(bytes)", "\(saved)", host, "\(pid)"]).flatMap { [$0, $1] }
    }

    /// How many strings it has.
    package var segments: Int { (bytes + Self.segmentLength - 1) / Self.segmentLength }

    /// The bytes of one of them.
    func length(ofSegment number: Int) -> Int {
        max(0, min(Self.segmentLength, bytes - number * Self.segmentLength))
    }
}
#endif
