import Foundation
import Testing

@testable import SampleContent
@testable import pressuresim

@Suite struct ContentTests {
    static let sources: [any ContentSource] = [
        SyntheticContent(compressibility: 0, seed: 1), SyntheticContent(compressibility: 0.5, seed: 1),
        SyntheticContent(compressibility: 1, seed: 1), TextContent(seed: 1, vocabulary: 100),
    ]

    @Test(arguments: sources.indices, [1, 7, 8, 1023, 1024, 5000])
    func theSameValueHasTheSameBytesEveryTime(source: Int, count: Int) throws {
        let source = Self.sources[source]
        let first = try bytes(count) { try source.fill(&$0, index: 3) }
        #expect(try bytes(count) { try source.fill(&$0, index: 3) } == first)
        // All of it is written: what was there before does not show.
        var used = [UInt8](repeating: 0xA5, count: count)
        try used.write { try source.fill(&$0, index: 3) }
        #expect(used == first)
    }

    @Test(arguments: sources.indices)
    func valuesAndSeedsDiffer(source: Int) throws {
        let source = Self.sources[source]
        let values = try (0..<20).map { index in try bytes(4096) { try source.fill(&$0, index: index) } }
        #expect(Set(values).count == 20)
        let other = SyntheticContent(compressibility: 0.5, seed: 2)
        #expect(
            bytes(4096) { other.fill(&$0, index: 0) }
                != bytes(4096) { SyntheticContent(compressibility: 0.5, seed: 1).fill(&$0, index: 0) }
        )
    }

    /// Half of the bytes are noise, in which hardly a byte repeats the one before; the other half are runs, in which all do.
    @Test(arguments: [0, 0.25, 0.5, 0.75, 1])
    func theStatedShareOfSyntheticContentIsRuns(compressibility: Double) {
        let content = SyntheticContent(compressibility: compressibility, seed: 4)
        let array = bytes(256 << 10) { content.fill(&$0, index: 0) }
        let repeated = zip(array, array.dropFirst()).count { $0 == $1 }
        #expect(abs(Double(repeated) / Double(array.count) - compressibility) < 0.02)
    }

    @Test func textIsWordsOfWhichFewAreFrequent() {
        let text = bytes(64 << 10) { TextContent(seed: 1, vocabulary: 1000).fill(&$0, index: 0) }
        #expect(text.allSatisfy { $0 == 0x20 || $0 == 0x0A || (0x61...0x7A).contains($0) })
        let words = text.split { $0 <= 0x20 }.dropLast()
        let counts = Dictionary(words.map { ($0, 1) }, uniquingKeysWith: +).values.sorted(by: >)
        // By Zipf's law over 1,000 ranks the first ten have 39 % of the words.
        let share = Double(counts.prefix(10).reduce(0, +)) / Double(words.count)
        #expect((0.3...0.5).contains(share), "\(share)")
    }

    @Test func eachMutationChangesAFewBytesAndIsTheSameEveryTime() {
        let original = [UInt8](repeating: 0, count: 10_000)
        var first = original
        var second = original
        first.write { Mutation.apply(version: 1, seed: 7, to: &$0) }
        second.write { Mutation.apply(version: 1, seed: 7, to: &$0) }
        #expect(first == second)
        let changed = zip(first, original).count { $0 != $1 }
        #expect((1...Mutation.changes).contains(changed))
        second.write { Mutation.apply(version: 2, seed: 7, to: &$0) }
        #expect(first != second)
    }

    @Test(arguments: [0, 1, 2])
    func tinyValuesCanBeMutated(count: Int) {
        var value = [UInt8](repeating: 0, count: count)
        value.write { Mutation.apply(version: 1, seed: 7, to: &$0) }
        #expect(value.count == count)
    }
}

@Suite struct FileCorpusTests {
    private func file(_ path: String, _ count: Int) -> FileCorpus.File { .init(path: path, byteCount: count) }

    @Test func filesOfAllKindsTakeTurns() {
        let files = [file("/b.so", 10), file("/a.so", 20), file("/x.h", 5), file("/y.h", 6), file("/plain", 7)]
        let corpus = FileCorpus(files: files, wanted: .max)
        #expect(corpus.pieces.map(\.path) == ["/plain", "/x.h", "/a.so", "/y.h", "/b.so"])
        #expect(corpus.byteCount == 48)
    }

    @Test func noFileGivesMoreThanItsShareATurn() {
        let limit = FileCorpus.pieceLimit
        let corpus = FileCorpus(files: [file("/big.a", 2 * limit + 1), file("/small.b", 9)], wanted: .max)
        #expect(corpus.pieces.map(\.count) == [limit, 9, limit, 1])
    }

    @Test func noMoreFilesAreTakenThanWanted() {
        let corpus = FileCorpus(files: (0..<100).map { file("/\($0 + 100).x", 10) }, wanted: 95)
        #expect(corpus.byteCount == 100)
    }

    @Test func aRangeIsCutFromPiecesAndGoesOnAtTheBeginning() {
        let corpus = FileCorpus(files: [file("/a.x", 10), file("/b.x", 20), file("/c.x", 5)], wanted: .max)
        #expect(
            corpus.pieces(from: 8, count: 10) == [
                .init(path: "/a.x", offset: 8, count: 2), .init(path: "/b.x", offset: 0, count: 8),
            ]
        )
        #expect(
            corpus.pieces(from: 33, count: 4) == [
                .init(path: "/c.x", offset: 3, count: 2), .init(path: "/a.x", offset: 0, count: 2),
            ]
        )
        #expect(corpus.pieces(from: 35 * 4 + 9, count: 1) == [.init(path: "/a.x", offset: 9, count: 1)])
        for start in 0..<35 {
            for count in [1, 35, 80] {
                #expect(corpus.pieces(from: start, count: count).reduce(0) { $0 + $1.count } == count)
            }
        }
    }

    @Test func valuesAreTheBytesOfTheFiles() async throws {
        try await withTemporaryDirectory { directory in
            let whole = bytes(20_000) { SyntheticContent(compressibility: 0, seed: 1).fill(&$0, index: 0) }
            try Data(whole[..<12_000]).write(to: directory.appendingPathComponent("a.bin"))
            try Data(whole[12_000...]).write(to: directory.appendingPathComponent("b.bin"))
            try Data([1, 2, 3]).write(to: directory.appendingPathComponent("tiny.bin"))
            let corpus = try FileCorpus(directories: [directory.path], wanted: .max)
            let content = FileContent(corpus: corpus, sizes: [11_000, 9_000])
            #expect(try bytes(11_000) { try content.fill(&$0, index: 0) } == Array(whole[..<11_000]))
            #expect(try bytes(9_000) { try content.fill(&$0, index: 1) } == Array(whole[11_000...]))

            // A file that shrinks under the run is an error that names it, not a value of other bytes.
            try Data([1]).write(to: directory.appendingPathComponent("b.bin"))
            #expect(throws: ContentError.self) { try bytes(9_000) { try content.fill(&$0, index: 1) } }
            try FileManager.default.removeItem(at: directory.appendingPathComponent("a.bin"))
            #expect(throws: ContentError.self) { try bytes(9_000) { try content.fill(&$0, index: 1) } }
        }
    }

    @Test func aDirectoryWithoutFilesIsAnErrorThatSaysWhatToDo() async throws {
        try await withTemporaryDirectory { directory in
            do {
                _ = try FileCorpus(directories: [directory.path], wanted: 1)
                Issue.record("an empty corpus")
            } catch {
                #expect("\(error)".contains("Name another directory"))
            }
        }
    }

    @Test func theDefaultCorpusIsTheToolchainsElseTheSystems() {
        let environment = ["PATH": "/nowhere:/opt/tools/bin"]
        let toolchain: Set = [
            "/opt/tools/bin/swift", "/opt/tools/lib/swift", "/opt/tools/share", "/usr/lib", "/usr/share",
        ]
        #expect(
            DefaultCorpus.directories(environment: environment, exists: toolchain.contains)
                == ["/opt/tools/lib/swift", "/opt/tools/share"]
        )
        #expect(
            DefaultCorpus.directories(environment: environment) { $0.hasPrefix("/usr") } == ["/usr/lib", "/usr/share"]
        )
    }
}
