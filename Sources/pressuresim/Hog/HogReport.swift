import Foundation
import PressureKit
import ReportPages

/// What a hog did, in words and as JSON.
struct HogReport: Encodable {
    /// Goes up when a reader of the version before would misread the file.
    var formatVersion = 1
    /// `"hog"`.
    var command = "hog"
    var ceilingBytes: Int
    var takenBytes: Int
    /// As it was asked for, in bytes a second.
    var rate: Double
    /// As it was.
    var measuredRate: Double
    var fillingSeconds: Double
    var heldSeconds: Double
    /// `incompressible` or `compressible`.
    var content: String
    var reachedCeiling: Bool

    /// Whether it was told to end before it had.
    var interrupted: Bool

    init(hog: Hog, outcome: Hog.Outcome, wasInterrupted: Bool = false) {
        interrupted = wasInterrupted
        ceilingBytes = hog.pace.ceiling
        takenBytes = outcome.taken.bytes
        rate = hog.pace.rate
        fillingSeconds = outcome.filling.seconds
        measuredRate = fillingSeconds > 0 ? Double(takenBytes) / fillingSeconds : 0
        heldSeconds = outcome.held.seconds
        content = hog.content.rawValue
        reachedCeiling = outcome.stoppedBy == nil && (!wasInterrupted || takenBytes >= ceilingBytes)
    }

    /// One line.
    var text: String {
        """
        \(interrupted ? "interrupted: " : "")took \(ByteCount.bytes(takenBytes)) in \(Quantities.duration(fillingSeconds)) \
        (\(Quantities.rate(measuredRate))), held it for \(Quantities.duration(heldSeconds)), gave it back
        """
    }

    /// Why the ceiling was not reached.
    func complaint(_ room: MemoryRoom) -> String {
        """
        stopped at \(ByteCount.bytes(takenBytes)) of \(ByteCount.bytes(ceilingBytes)): only \(room.available) were left \
        of \(room.name). Choose a lower ceiling, or say --force.
        """
    }

    /// Keys in snake case and in order.
    func json() throws -> Data { try CommandJSON.encode(self) }
}
