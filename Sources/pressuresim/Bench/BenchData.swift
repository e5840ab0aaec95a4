import Foundation
import PressureKit
import SampleContent
import ScenarioLanguage

/// The values that reclaims and restores are measured with: real files cut into sizes, in memory before anything is
/// timed.
struct BenchData: Sendable {
    /// The sizes that values of a reclaim have by turns.
    static let sizes = [64 << 10, 256 << 10, 1 << 20]
    /// What deflate makes at most of a value that counts as compressible: this share of its bytes.
    static let compressibleShare = 0.75

    /// Where the bytes come from, for the report.
    let source: String
    /// Values of all kinds.
    let mixed: [PageBuffer]
    /// Values that deflate shortens well: those of the mix, and text where the mix has too few.
    let compressible: [PageBuffer]

    /// Reads the files.
    ///
    /// - Parameter directory: of files; `nil` for files that every machine with a toolchain has.
    /// - Throws: ``ContentError`` when there is nothing to read.
    init(directory: String?, byteCount: Int, deflater: BenchDeflater) throws {
        let corpus = try Self.corpus(directory, wanted: byteCount)
        let isDefault = directory == nil
        source = directory ?? "\(DefaultCorpus.directories().joined(separator: ", ")); 2 values of 7 are noise"
        let sizes = Self.sizes(of: byteCount)
        let content = FileContent(corpus: corpus, sizes: sizes)
        let noise = SyntheticContent(compressibility: 0, seed: 2)
        mixed = try sizes.indices.map { index in
            try PageBuffer.make(byteCount: sizes[index]) { bytes in
                if isDefault, Self.isNoise(index) { return noise.fill(&bytes, index: index) }
                try content.fill(&bytes, index: index)
            }
        }
        let text = TextContent(seed: 1)
        compressible = try mixed.enumerated().map { index, value in
            let share = Double(deflater.deflatedByteCount(of: value)) / Double(value.count)
            guard share > Self.compressibleShare else { return value }
            return try PageBuffer.make(byteCount: value.count) { text.fill(&$0, index: index) }
        }
    }

    /// What a toolchain does not have, a picture's or a network's cache does: bytes that are packed already or never
    /// repeat. Two values of seven, the share that such classes have in the peers' corpus.
    static func isNoise(_ index: Int) -> Bool { index % 7 == 2 || index % 7 == 5 }

    /// Values of one size, from the compressible bytes, over and over.
    func compressible(size: Int, count: Int) throws -> [PageBuffer] {
        let all = compressible.flatMap { value in (0..<value.count / Self.grain).map { (value, $0) } }
        var next = 0
        return try (0..<count).map { _ in
            try PageBuffer.make(byteCount: size) { bytes in
                for offset in stride(from: 0, to: size, by: Self.grain) {
                    let (value, grain) = all[next % all.count]
                    next += 1
                    value.withBytes { source in
                        for index in stride(from: 0, to: Self.grain, by: 8) {
                            let position = grain * Self.grain + index
                            // Within the value: it has all of the grain.
                            let word = unsafe source.unsafeLoad(fromByteOffset: position, as: UInt64.self)
                            _ = bytes.put(word, at: offset + index, end: size)
                        }
                    }
                }
            }
        }
    }

    /// The piece that values of one size are put together from.
    static let grain = 64 << 10

    /// Sizes by turns that add up to about `byteCount`.
    static func sizes(of byteCount: Int) -> [Int] {
        var sizes: [Int] = []
        var total = 0
        while total < byteCount {
            let size = Self.sizes[sizes.count % Self.sizes.count]
            sizes.append(size)
            total += size
        }
        return sizes
    }

    /// The files below a directory; without the index that a generated corpus has beside its data.
    private static func corpus(_ directory: String?, wanted: Int) throws -> FileCorpus {
        guard let directory else {
            return try FileCorpus(
                directories: DefaultCorpus.directories(),
                wanted: wanted,
                remedy: "--corpus DIRECTORY"
            )
        }
        let index = URL(fileURLWithPath: directory).appendingPathComponent("index.json")
        guard let data = try? BoundedInput.read(index.path, atMost: 64 << 20) else {
            return try FileCorpus(directories: [directory], wanted: wanted, remedy: "--corpus DIRECTORY")
        }
        let entries: [CorpusIndex.Entry]
        do { entries = try JSONDecoder().decode(CorpusIndex.self, from: data).entries } catch {
            throw ContentError(
                description: "\(index.path) is no index of a corpus: \(error.reason). Remove or repair it."
            )
        }
        guard entries.allSatisfy({ 1...1 << 40 ~= $0.size }) else {
            throw ContentError(description: "\(index.path) has a size that no file has. Remove or repair it.")
        }
        return CorpusIndex.corpus(entries, directory: directory, wanted: wanted)
    }
}
