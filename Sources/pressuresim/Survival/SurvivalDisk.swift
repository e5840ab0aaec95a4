import Foundation
import PressureKit
import Synchronization

/// Lets the disk below the spill directory go away while the last values are loaded, and says which reads that excuses.
///
/// It goes when three quarters have been loaded, and comes back after seven eighths: counted, not timed, so that a slow
/// machine does the same.
final class SurvivalDisk: Sendable {
    private let outage: SurvivalOutage
    private let begins: Int
    private let ends: Int
    /// Odd while it is gone.
    private let turn = Atomic<Int>(0)

    init(_ outage: SurvivalOutage, count: Int) {
        self.outage = outage
        begins = count * 3 / 4
        ends = count * 7 / 8
    }

    /// How often it has gone or come back.
    var turns: Int { turn.load(ordering: .acquiring) }

    /// Takes the disk away or gives it back when it is time; `count` is how many values have been loaded.
    ///
    /// - Throws: why the file could not be made or removed.
    func loaded(_ count: Int) throws {
        if count == begins {
            // Before the disk is gone, so that a read that notices is excused.
            turn.add(1, ordering: .acquiringAndReleasing)
            try Data().write(to: URL(fileURLWithPath: outage.file))
        } else if count == ends, !outage.isForEver {
            try FileManager.default.removeItem(atPath: outage.file)
            turn.add(1, ordering: .acquiringAndReleasing)
        }
    }

    /// Whether a read may have failed like this: the disk was gone during a part of it, the value was there before the
    /// disk went and no loader makes it, and the error says which cache it is.
    ///
    /// - Parameter before: ``turns`` when the read began.
    func excuses(_ error: any Error, _ key: Int, since before: Int?) -> Bool {
        guard let error = error as? PressureError, error.code == .restoreFailed,
            error.path?.contains("documents") == true
        else {
            return false
        }
        let wasGone = before != turns || !turns.isMultiple(of: 2)
        return wasGone && key < begins && !KitStore.hasLoader(key)
    }
}
