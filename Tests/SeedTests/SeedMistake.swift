@testable import PressureKit
@testable import PressureKitTesting

/// Mistakes that a run makes on purpose, at the seams that are its own, so that the checks and the shrinker are seen to
/// work. Those in the library itself are in `scripts/seeds/mutants.py`.
enum SeedMistake: String, Sendable, CaseIterable {
    /// Every fifth value that is set is discarded at once.
    case forgetsSet
    /// A lease is let go while its holder goes on.
    case loosensLease
    /// A block is kept that nobody knows of.
    case leaks
    /// The disk changes what is on it, behind everybody's back.
    case rots
    /// A name is left behind on the disk.
    case leavesName
}

extension SeedWorld {
    /// Makes the mistake, if it is time for it.
    func plant() {
        switch mistake {
        case .leaks:
            if step == 9, let number = entries.indices.first { leaked = makeBlock(number, 1, .none) }
        case .rots: if step % 5 == 0 { homes[0].base.damageEverything() }
        case .leavesName: if counts.evicted > 0 { homes[0].base.setContents([1], named: "/var/tmp/.pressurekit-left") }
        case .loosensLease: for index in holds.indices where step % 3 == 0 { holds[index].hold.letGo() }
        case .forgetsSet, nil: break
        }
    }
}
