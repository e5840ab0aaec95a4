import Foundation
import PressureKit
import Testing

@testable import ReportPages
@testable import SampleContent
@testable import pressuresim

/// A run from end to end, so small that only its shape means something.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BenchRunTests {
    private func files(in directory: URL) throws {
        let text = TextContent(seed: 3)
        let noise = SyntheticContent(compressibility: 0, seed: 4)
        try Data(bytes(300_000) { text.fill(&$0, index: 0) }).write(to: directory.appendingPathComponent("a.txt"))
        try Data(bytes(300_000) { noise.fill(&$0, index: 0) }).write(to: directory.appendingPathComponent("b.bin"))
    }

    @Test func aTinyRunMeasuresEveryMetricAndWritesIt() async throws {
        try await withTemporaryDirectory { directory in
            try files(in: directory)
            let bench = Bench(plan: .tiny, corpus: directory.path, directory: "/var/tmp")
            let record = try await Blocking.run("bench") { try bench.run() }
            #expect(record.results.map(\.metric) == BenchMetric.allCases)
            // Too little is freed to weigh what is returned; allocations are not counted under a sanitizer.
            var unmeasured: Set<BenchMetric> = [.returnedOverClaimed, .reclaimAllocations]
            if !canSeal { unmeasured.formUnion([.reclaimSealed, .restoreSealed]) }
            for result in record.results where !unmeasured.contains(result.metric) {
                #expect(result.value?.isFinite == true, "\(result)")
                #expect(result.holds != nil, "\(result)")
            }
            #expect(record.scale.map(\.entries) == BenchPlan.tiny.scaleCounts)
            for row in record.scale { #expect([row.register, row.hit, row.evict, row.restore].allSatisfy { $0 > 0 }) }

            let json = try JSONSerialization.jsonObject(with: BenchJSON(record).data())
            let top = try #require(json as? [String: Any])
            #expect(top["complete"] as? Bool == true)
            #expect(Set(top.keys) == ["complete", "format_version", "machine", "metrics", "scale", "tool_version"])
            let metrics = try #require(top["metrics"] as? [[String: Any]])
            #expect(metrics.map { $0["name"] as? String } == BenchMetric.allCases.map(\.rawValue))
            for metric in metrics {
                #expect(Set(metric.keys) == ["name", "value", "unit", "limit", "ratio", "goal", "holds"])
            }
            let scale = try #require(top["scale"] as? [[String: Any]])
            #expect(scale.allSatisfy { Set($0.keys) == ["entries", "register", "hit", "plan", "evict", "restore"] })
            let machine = try #require(top["machine"] as? [String: Any])
            #expect(
                Set(machine.keys) == [
                    "processor", "cores", "memory_bytes", "kernel", "load_before", "spill_directory", "corpus", "zlib",
                    "optimized",
                ]
            )

            let text = BenchText(record: record, style: .plain).text
            for metric in BenchMetric.allCases { #expect(text.contains("\n\(metric.rawValue) ")) }
            #expect(!text.contains("Interrupted"))
        }
    }

    @Test func anInterruptedRunSaysHowFarItCame() throws {
        let board = BenchBoard()
        #expect(board.soFar == nil)
        board.begin(BenchMachine(spillDirectory: "/var/tmp", corpus: "files", loadBefore: 0))
        board.note([BenchResult(.hotRead, value: 1e-8)])
        let record = try #require(board.soFar)
        let text = BenchText(record: record, style: .plain).text
        #expect(text.hasSuffix("\nInterrupted: 1 of \(BenchMetric.allCases.count) metrics measured."))
        #expect(!text.contains("Cost of an entry"))
        #expect(try JSONDecoder().decode(Complete.self, from: BenchJSON(record).data()).complete == false)
        var page = BenchPage(runs: [BenchRun(record, plan: "full", commit: nil)])
        page.isComplete = record.isComplete
        let words = "Interrupted after 1 of \(BenchMetric.allCases.count) metrics".unbroken
        #expect(page.page.text.contains(words))
        #expect(!page.page.text.contains("A missed goal"))
        page.isComplete = true
        #expect(!page.page.text.contains("Interrupted") && page.page.text.contains("A missed goal"))
    }

    private struct Complete: Decodable {
        var complete: Bool
    }

    @Test func compressibleValuesAreCompressible() async throws {
        try await withTemporaryDirectory { directory in
            try files(in: directory)
            let deflater = BenchDeflater()
            let data = try BenchData(directory: directory.path, byteCount: 1 << 20, deflater: deflater)
            #expect(data.mixed.map(\.count) == BenchData.sizes)
            #expect(data.compressible.map(\.count) == BenchData.sizes)
            #expect(data.mixed != data.compressible)
            for value in try data.compressible + data.compressible(size: 128 << 10, count: 5) {
                #expect(Double(deflater.deflatedByteCount(of: value)) < 0.8 * Double(value.count))
            }
        }
    }

    @Test func theShareOfNoiseIsThatOfThePeers() {
        #expect((0..<70).filter(BenchData.isNoise).count == 20)
        // Of every size: values have sizes by turns.
        let sizes = BenchData.sizes.count
        #expect(Set((0..<7 * sizes).filter(BenchData.isNoise).map { $0 % sizes }).count == sizes)
    }

    @Test func whatIsDeflatedComesBack() throws {
        let text = TextContent(seed: 5)
        let plain = bytes(BenchDeflater.chunk) { text.fill(&$0, index: 0) }
        var restored = [UInt8](repeating: 0, count: plain.count)
        let deflater = BenchDeflater()
        // Both arrays outlive the calls.
        unsafe plain.withUnsafeBytes { plain in
            unsafe restored.withUnsafeMutableBytes { unsafe deflater.inflate(deflater.deflate(plain), into: $0) }
        }
        #expect(restored == plain)
    }

    @Test func anIndexGivesItsClassesByTurns() async throws {
        let index = """
            {"seed": 1, "classes": {}, "entries": [
              {"name": "text/1MiB/0", "class": "text", "size": 10000, "crc32": 1},
              {"name": "text/1MiB/1", "class": "text", "size": 10000, "crc32": 1},
              {"name": "csv/64KiB/0", "class": "csv", "size": 5000, "crc32": 1},
              {"name": "csv/64KiB/1", "class": "csv", "size": 5000, "crc32": 1}
            ]}
            """
        let entries = try JSONDecoder().decode(CorpusIndex.self, from: Data(index.utf8)).entries
        let corpus = CorpusIndex.corpus(entries, directory: "/c", wanted: 18_000)
        #expect(corpus.pieces.map(\.path) == ["/c/csv/64KiB/0.bin", "/c/csv/64KiB/1.bin", "/c/text/1MiB/0.bin"])
    }
}
