import PressureSystem
import SpillStore

/// Which copies go from the disk to the server behind it: in idle time, the cold ones, before the disk is full.
///
/// So a reclaim finds room on the disk, and waits for no network. Between two marks, as memory is kept (``Watermarks``): a disk
/// that is three quarters full is emptied to five eighths, and not a value at a time for ever.
extension ReclaimEngine {
    /// Copies that may move.
    enum Demotable: Hashable {
        case none
        /// Those of values that their loaders make again: the server may give up what it has.
        case reloadable
        case all
    }

    /// The part of what the spill file may take from which on copies move.
    static let demotesAbove = 0.75
    /// The part at which that ends.
    static let demotesTo = 0.625

    /// Which copies are to move. With each look for work; two system calls if there is a server.
    var demotable: Demotable {
        guard let secondary, secondary.mayWrite, primary.file.fullness >= Self.demotesAbove else { return .none }
        return secondary.file.fileSystem.keepsEverything ? .all : .reloadable
    }

    /// Where the next copy is to go; `nil` for nowhere: enough have gone, or the server fails.
    var demotionTarget: SpillTarget? {
        guard let secondary, secondary.mayWrite, primary.file.fullness > Self.demotesTo else { return nil }
        return secondary
    }
}
