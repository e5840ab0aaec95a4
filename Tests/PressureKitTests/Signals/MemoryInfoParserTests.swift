#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit
import PressureKitTestSupport
import Testing

@Suite struct MemoryInfoParserTests {
    struct Expectation: CustomTestStringConvertible {
        var kernel: String
        var total: Int
        var free: Int
        var available: Int?
        var activeFile: Int?
        var inactiveFile: Int?
        var reclaimable: Int
        var swapTotal: Int
        var testDescription: String { kernel }
    }

    /// In kB, as the files say it.
    static let expectations = [
        Expectation(
            kernel: "linux-2.6.24",
            total: 1_035_180,
            free: 57_940,
            reclaimable: 47_092,
            swapTotal: 1_951_888
        ),
        Expectation(
            kernel: "linux-2.6.32",
            total: 7_778_104,
            free: 4_806_144,
            activeFile: 293_600,
            inactiveFile: 984_988,
            reclaimable: 218_104,
            swapTotal: 4_194_296
        ),
        Expectation(
            kernel: "linux-3.10",
            total: 16_423_480,
            free: 15_882_220,
            activeFile: 26_008,
            inactiveFile: 147_668,
            reclaimable: 21_416,
            swapTotal: 16_764_924
        ),
        Expectation(
            kernel: "linux-4.18",
            total: 8_164_548,
            free: 851_960,
            available: 1_950_080,
            activeFile: 248_284,
            inactiveFile: 1_019_512,
            reclaimable: 95_248,
            swapTotal: 0
        ),
        Expectation(
            kernel: "linux-5.4",
            total: 31_793_328,
            free: 14_444_052,
            available: 21_921_004,
            activeFile: 1_895_056,
            inactiveFile: 5_480_892,
            reclaimable: 560_788,
            swapTotal: 8_388_604
        ),
        Expectation(
            kernel: "lxcfs",
            total: 524_288,
            free: 372_736,
            available: 481_280,
            activeFile: 30_720,
            inactiveFile: 77_824,
            reclaimable: 0,
            swapTotal: 0
        ),
    ]

    @Test(arguments: expectations)
    func readsTheFilesOfEachKernel(_ expected: Expectation) throws {
        let info = try #require(try Meminfo.parsed(expected.kernel))
        #expect(info.total == .kibibytes(expected.total))
        #expect(info.free == .kibibytes(expected.free))
        #expect(info.available == expected.available.map { .kibibytes($0) })
        #expect(info.activeFile == expected.activeFile.map { .kibibytes($0) })
        #expect(info.inactiveFile == expected.inactiveFile.map { .kibibytes($0) })
        #expect(info.reclaimableSlab == .kibibytes(expected.reclaimable))
        #expect(info.swapTotal == .kibibytes(expected.swapTotal))
    }

    /// `Active:` must not be taken for `Active(file):`, nor `SwapCached:` for `Cached:`.
    @Test func doesNotConfuseNamesThatContainOneAnother() throws {
        let info = try #require(try Meminfo.parsed("linux-5.4"))
        #expect(info.cached == .kibibytes(6_632_132))
        #expect(info.buffers == .kibibytes(488_188))
        #expect(info.shared == .kibibytes(138_960))
        #expect(info.swapFree == .kibibytes(8_388_604))
    }

    /// A file cut anywhere may lose fields but never makes a wrong number of one.
    @Test(arguments: Meminfo.kernels)
    func aCutFileNeverYieldsAWrongNumber(_ kernel: String) throws {
        let text = try Meminfo.text(kernel)
        let whole = try #require(Meminfo.parse(text))
        for length in 0..<text.count {
            guard let cut = Meminfo.parse(text.prefix(length)) else { continue }
            #expect(cut.total == whole.total, "cut at \(length)")
            for field in [
                \MemoryInfo.free, \.available, \.buffers, \.cached, \.shared, \.activeFile, \.inactiveFile,
                \.reclaimableSlab, \.swapTotal, \.swapFree,
            ] {
                guard let value = cut[keyPath: field] else { continue }
                #expect(value == whole[keyPath: field], "cut at \(length)")
            }
        }
    }

    @Test(arguments: [
        "", "\n", ":", "::::\n", "MemTotal", "MemTotal:", "MemTotal: kB", "MemTotal: 1", "MemTotal: 1 k",
        "MemTotal: 1 MB",
        "MemTotal: -1 kB", "MemTotal: 0 kB", "MemTotal: 0x10 kB", "MemTotal: 1.5 kB", "MemTotal: 1 kB B",
        "memtotal: 1 kB",
        " MemTotal: 1 kB", "MemTotal : 1 kB", "MemFree: 1 kB\n",
        // 2^64 + 1 and more, 2^63 bytes, one more than 1 EiB: no machine's memory.
        "MemTotal: 18446744073709551617 kB", "MemTotal: 99999999999999999999999999999999 kB",
        "MemTotal: 9007199254740992 kB", "MemTotal: 1125899906842625 kB",
    ])
    func withoutAWholeTotalThereIsNoReading(_ text: String) {
        #expect(Meminfo.parse(text) == nil)
    }

    @Test func theLargestNumbersAreReadAndAddUpWithoutOverflow() throws {
        let exbibyte = 1 << 50
        let text = ["MemTotal", "MemFree", "Active(file)", "Inactive(file)", "SReclaimable"]
            .map { "\($0): \(exbibyte) kB\n" }.joined()
        let info = try #require(Meminfo.parse(text))
        #expect(info.total.bytes == 1 << 60)
        #expect(info.headroom?.available.bytes == 1 << 60)
    }

    @Test func aFieldThatDoesNotFitIsMissingAndTheOthersStand() throws {
        let text = "MemTotal: 1000 kB\nMemAvailable: 99999999999999999999 kB\nMemFree: 500 kB\nBuffers: 7"
        let info = try #require(Meminfo.parse(text))
        #expect(info.available == nil)
        #expect(info.free == .kibibytes(500))
        #expect(info.buffers == nil)
    }

    @Test func ofTwoLinesWithOneNameTheFirstCounts() throws {
        let text = "MemTotal: 1000 kB\nMemFree: 1 kB\nMemFree: 2 kB\nMemTotal: 2000 kB\n"
        let info = try #require(Meminfo.parse(text))
        #expect(info.total == .kibibytes(1000))
        #expect(info.free == .kibibytes(1))
    }

    /// Any bytes are safe, and whatever comes out is within bounds.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func damagedFilesAreSafe(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let original = try Meminfo.text("linux-5.4")
        for _ in 0..<500 {
            var text = original
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                text[Int.random(in: text.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let headroom = Meminfo.parse(text)?.headroom else { continue }
            #expect(headroom.available >= .zero && headroom.available <= headroom.limit, "seed \(seed)")
        }
    }
}
#endif
