import PressureKit
import Testing

/// What a value's word remembers of its use, in and out of memory.
@Suite struct UseMarksTests {
    private func read(_ word: ResidencyWord, at stamp: UInt32) throws -> ResidencyWord {
        ResidencyWord(rawValue: try #require(word.pinning(stamp: stamp)).rawValue - 1)
    }

    private func loaded(at stamp: UInt32) throws -> ResidencyWord {
        let word = try #require(ResidencyWord.unloaded.beginningLoad()?.finishingLoad(stamp: stamp))
        return ResidencyWord(rawValue: word.rawValue - 1)
    }

    private func evicted(_ word: ResidencyWord, at stamp: UInt32, spilling: Bool) throws -> ResidencyWord {
        let word = spilling ? try #require(word.beginningCopy()?.finishingCopy(succeeded: true)) : word
        return try #require(word.beginningRelease(dropping: !spilling)?.finishingRelease(stamp: stamp))
    }

    private func back(_ word: ResidencyWord, at stamp: UInt32, horizon: UInt32) throws -> ResidencyWord {
        let made =
            word.beginningRestore()?.finishingRestore(stamp: stamp, horizon: horizon)
            ?? word.beginningLoad()?.finishingLoad(stamp: stamp, horizon: horizon)
        return ResidencyWord(rawValue: try #require(made).rawValue - 1)
    }

    @Test func usesInOneTickAreOneUse() throws {
        var word = try loaded(at: 5)
        for _ in 0..<10 { word = try read(word, at: 5) }
        #expect(word.hits == 0)
        for _ in 0..<10 { word = try read(word, at: 6) }
        #expect(word.hits == 1)
        #expect(word.stamp == 6)
    }

    /// Counting stops where the bits end, and changes nothing else.
    @Test func hitsDoNotOverflow() throws {
        var word = try loaded(at: 0)
        for stamp in 1...100 as ClosedRange<UInt32> { word = try read(word, at: stamp) }
        #expect(word.hits == ResidencyWord.mostHits)
        #expect(!word.isMarkedEvicted)
        #expect(word.phase == .resident)
        let unused = word.clearingVisit()?.spared(hits: 0)
        #expect(unused?.isVisited == false)
        #expect(unused?.hits == 0)
        #expect(unused?.stamp == 100)
    }

    @Test(arguments: [false, true])
    func hitsSurviveAnEviction(spilling: Bool) throws {
        let word = try read(loaded(at: 1), at: 2)
        let out = try evicted(word, at: 3, spilling: spilling)
        #expect(out.hits == 1)
        #expect(out.stamp == 3)
        #expect(try back(out, at: 4, horizon: 0).hits == 1)
    }

    @Test(arguments: [false, true])
    func aReturnWithinTheHorizonIsARefault(spilling: Bool) throws {
        let out = try evicted(loaded(at: 1), at: 10, spilling: spilling)
        #expect(try back(out, at: 15, horizon: 5).isMarkedEvicted)
        #expect(try back(out, at: 16, horizon: 5).isMarkedEvicted == false)
        // The clock wraps.
        let late = try evicted(loaded(at: 1), at: .max, spilling: spilling)
        #expect(try back(late, at: 4, horizon: 5).isMarkedEvicted)
        #expect(try back(late, at: 5, horizon: 5).isMarkedEvicted == false)
    }

    @Test func aFirstLoadIsNoRefault() throws {
        let word = try #require(ResidencyWord.unloaded.beginningLoad()?.finishingLoad(stamp: 1, horizon: .max))
        #expect(!word.isMarkedEvicted)
    }

    /// What was evicted is not what the loader makes after `invalidate`.
    @Test func aReloadAfterAChangeIsNoRefault() throws {
        let out = try evicted(loaded(at: 1), at: 2, spilling: true)
        let empty = try #require(out.beginningMutation()?.finishingMutation(hasValue: false, stamp: 3))
        #expect(try back(empty, at: 4, horizon: .max).isMarkedEvicted == false)
    }

    /// Grace lasts until a reclaim has spared the value; out of memory the mark stays, or the return would not count.
    @Test func graceEndsWithAReclaim() throws {
        let out = try evicted(loaded(at: 1), at: 2, spilling: false)
        #expect(out.spared(hits: 0).isMarkedEvicted)
        let refaulted = try back(out, at: 3, horizon: 9)
        #expect(refaulted.isMarkedEvicted)
        #expect(!refaulted.spared(hits: 0).isMarkedEvicted)
    }
}
