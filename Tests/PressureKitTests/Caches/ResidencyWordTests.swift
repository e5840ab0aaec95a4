#if !THREAD_SANITIZER  // One thread at a time.
import Testing

@testable import PressureKit

/// Every word that can be built from the parts, against what its steps say they need.
@Suite struct ResidencyWordTests {
    typealias Step = @Sendable (ResidencyWord) -> ResidencyWord?

    /// Every word that is reachable from an unloaded slot within the bounds of three pins.
    static let reachable: Set<ResidencyWord> = {
        var seen: Set<ResidencyWord> = [.unloaded]
        var frontier: [ResidencyWord] = [.unloaded]
        while let word = frontier.popLast() {
            for (_, step) in steps {
                guard let next = step(word), next.pins <= 3, seen.insert(next).inserted else { continue }
                frontier.append(next)
            }
            // A pin is given back by subtracting one.
            if word.pins > 0 {
                let next = ResidencyWord(rawValue: word.rawValue - 1)
                if seen.insert(next).inserted { frontier.append(next) }
            }
        }
        return seen
    }()

    static let steps: [(name: String, step: Step)] = [
        ("pinning", { $0.pinning(stamp: 7) }), ("visiting", { $0.visiting(stamp: 7) }), ("biasing", { $0.biasing() }),
        ("revokingBias", { $0.revokingBias() }), ("awaiting", { $0.awaiting() }),
        ("beginningLoad", { $0.beginningLoad() }), ("finishingLoad", { $0.finishingLoad(stamp: 7) }),
        ("failingLoad", { $0.failingLoad() }), ("beginningRestore", { $0.beginningRestore() }),
        ("finishingRestore", { $0.finishingRestore(stamp: 7) }), ("failingRestore", { $0.failingRestore() }),
        ("rebuilding", { $0.rebuilding() }), ("beginningMutation", { $0.beginningMutation() }),
        ("upgrading", { $0.upgrading() }),
        ("finishingMutation", { $0.finishingMutation(hasValue: true, stamp: 7) }),
        ("emptying", { $0.finishingMutation(hasValue: false, stamp: 7) }), ("retiring", { $0.retiring() }),
        ("beginningCopy", { $0.beginningCopy() }), ("copied", { $0.finishingCopy(succeeded: true) }),
        ("copyFailed", { $0.finishingCopy(succeeded: false) }),
        ("beginningRelease", { $0.beginningRelease(dropping: false) }),
        ("beginningDrop", { $0.beginningRelease(dropping: true) }), ("finishingRelease", { $0.finishingRelease() }),
    ]

    @Test func phasesAsNumbersAreThePhases() {
        #expect(ResidencyWord.residentBits == ResidencyWord.Phase.resident.rawValue << 20)
        #expect(ResidencyWord.retiredBits == ResidencyWord.Phase.retired.rawValue << 20)
        #expect(ResidencyWord.Phase.allCases.allSatisfy { $0.rawValue << 20 & ~ResidencyWord.phaseMask == 0 })
    }

    @Test func reachesEveryPhase() {
        #expect(Set(Self.reachable.map(\.phase)) == Set(ResidencyWord.Phase.allCases))
    }

    /// P2: whatever takes, changes or moves a value needs it to be held by nobody.
    @Test func neverTakesAHeldValue() {
        for word in Self.reachable where word.pins > 0 || word.isCopying || word.isBiased {
            #expect(word.beginningRelease(dropping: false) == nil, "\(word.explained)")
            #expect(word.beginningRelease(dropping: true) == nil, "\(word.explained)")
            #expect(word.beginningMutation() == nil, "\(word.explained)")
            if word.pins != 1 || word.isCopying || word.isBiased {
                #expect(word.upgrading() == nil, "\(word.explained)")
            }
        }
    }

    /// Only a value that is there is biased, and nothing but taking the bias ends that.
    @Test func onlyResidentValuesAreBiased() {
        for word in Self.reachable where word.isBiased {
            #expect(word.isResident, "\(word.explained)")
            #expect(word.retiring() == nil, "\(word.explained)")
            #expect(word.revokingBias()?.pins == word.pins + 1)
        }
        #expect(
            Self.reachable.contains { $0.isBiased && $0.isCopying }
                && Self.reachable.contains { $0.isBiased && $0.pins > 1 }
        )
    }

    /// P1: without dropping, a value leaves memory only when a checked copy of it as it is now exists.
    @Test func leavesMemoryOnlyWithACopy() {
        for word in Self.reachable where !word.isClean {
            #expect(word.beginningRelease(dropping: false) == nil, "\(word.explained)")
        }
        for word in Self.reachable where word.phase == .spilled {
            #expect(word.isClean, "spilled without a copy: \(word.explained)")
        }
    }

    /// P1: what is dropped is what the loader makes, and not what was set or changed since.
    @Test func dropsOnlyWhatTheLoaderMakes() {
        for word in Self.reachable where !word.isReloadable {
            #expect(word.isClean || word.beginningRelease(dropping: true) == nil, "\(word.explained)")
            #expect(word.rebuilding() == nil, "\(word.explained)")
        }
        for word in Self.reachable where word.phase == .mutating {
            #expect(word.finishingMutation(hasValue: true, stamp: 1)?.isReloadable == false)
        }
    }

    /// A load in place of a copy that could not be read keeps the copy until it has succeeded.
    @Test func aFailedRebuildKeepsTheCopy() {
        for word in Self.reachable where word.phase == .restoring && word.isReloadable {
            #expect(word.rebuilding()?.failingLoad()?.phase == .spilled)
            #expect(word.rebuilding()?.finishingLoad(stamp: 1)?.isClean == false)
        }
    }

    /// A changed value's copy is never taken for a copy of the new one.
    @Test func aChangeMakesTheCopyInvalid() {
        for word in Self.reachable where word.phase == .mutating {
            #expect(word.finishingMutation(hasValue: true, stamp: 1)?.isClean == false)
            #expect(word.finishingMutation(hasValue: false, stamp: 1)?.phase == .unloaded)
            #expect(word.finishingMutation(hasValue: false, stamp: 1)?.isClean == false)
        }
    }

    /// A copy that was begun before a change is not a copy of what came after it.
    @Test func nothingChangesWhileItIsCopied() {
        for word in Self.reachable where word.isCopying {
            #expect(word.phase == .resident || word.phase == .retired, "\(word.explained)")
            if word.phase == .retired { #expect(word.finishingCopy(succeeded: true)?.isClean == false) }
        }
    }

    /// Pins exist only where a value is, or where a maker has yet to notice that it was replaced.
    @Test func pinsHoldAValueOrAMaker() {
        for word in Self.reachable where word.pins > 0 {
            #expect([.resident, .retired].contains(word.phase), "\(word.explained)")
        }
    }

    /// Whoever waits is woken by the step that ends the wait: that step clears the bit, and no other step does.
    @Test func waitersAreKeptUntilTheOwnerIsDone() {
        for word in Self.reachable where word.hasWaiters {
            for (name, step) in Self.steps {
                guard let next = step(word) else { continue }
                let ends = ["finishing", "failing", "emptying", "retiring"].contains { name.hasPrefix($0) }
                #expect(next.hasWaiters == !ends, "\(name) on \(word.explained)")
            }
        }
    }

    /// One owner at a time: from an owned word, only the owner's own steps lead away.
    @Test(arguments: [
        (ResidencyWord.Phase.loading, ["finishingLoad", "failingLoad", "awaiting", "retiring"]),
        (.restoring, ["finishingRestore", "failingRestore", "rebuilding", "awaiting", "retiring"]),
        (.mutating, ["finishingMutation", "emptying", "awaiting"]),
        (.releasing, ["finishingRelease", "awaiting"]),
    ])
    func ownedSlotsAreLeftByTheirOwner(phase: ResidencyWord.Phase, allowed: [String]) {
        for word in Self.reachable where word.phase == phase {
            for (name, step) in Self.steps where !allowed.contains(name) && !name.hasPrefix("cop") {
                #expect(step(word) == nil, "\(name) on \(word.explained)")
            }
        }
    }

    /// A slot that was replaced is emptied exactly once: one step makes it abandoned, and none leads away from there.
    @Test func abandonmentIsFinal() {
        for word in Self.reachable where word.isAbandoned {
            for (name, step) in Self.steps { #expect(step(word) == nil, "\(name) on \(word.explained)") }
        }
    }

    @Test func theStampIsThatOfTheLastUse() {
        var word = ResidencyWord.mutating.finishingMutation(hasValue: true, stamp: 1)!
        #expect(word.stamp == 1)
        word = word.pinning(stamp: .max)!
        #expect(word.stamp == .max)
        #expect(word.pins == 1)
        #expect(word.phase == .resident)
    }

    /// Some of the pins there is room for are left for readers without one, who may be counted later.
    @Test func pinsStopBeforeTheyOverflow() throws {
        let resident = ResidencyWord.mutating.finishingMutation(hasValue: true, stamp: 0)!
        let full = ResidencyWord(rawValue: resident.rawValue | 0x1_EFFF)
        #expect(full.pins == 126_975)
        #expect(full.pinning(stamp: 0) == nil)
        #expect(full.hasRoom)
        let counted = ResidencyWord(rawValue: full.rawValue + 4_095)
        #expect(counted.pins == 131_070 && !counted.isBiased && counted.isResident)
        #expect(!counted.hasRoom)
    }
}

extension ResidencyWord {
    fileprivate var explained: String {
        "\(phase) pins=\(pins) clean=\(isClean) copying=\(isCopying) reloadable=\(isReloadable) waiters=\(hasWaiters) biased=\(isBiased)"
    }
}
#endif
