import Foundation
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// A value that counts how often it is encoded, decoded and asked for its footprint, by its number.
private struct Counted: Codable, Sendable, Equatable {
    var number: Int
    var texts: [String]
    private static let counts = Lock<[Int: (encoded: Int, decoded: Int)]>([:])

    static func encoded(_ number: Int) -> Int { counts.withLock { $0[number]?.encoded ?? 0 } }
    static func decoded(_ number: Int) -> Int { counts.withLock { $0[number]?.decoded ?? 0 } }

    enum Key: CodingKey { case number, texts }

    init(_ number: Int, texts: [String] = ["some text", "some more"]) {
        self.number = number
        self.texts = texts
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let number = try container.decode(Int.self, forKey: .number)
        self.init(number, texts: try container.decode([String].self, forKey: .texts))
        Self.counts.withLock { $0[number, default: (0, 0)].decoded += 1 }
    }

    func encode(to encoder: any Encoder) throws {
        Self.counts.withLock { $0[number, default: (0, 0)].encoded += 1 }
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(number, forKey: .number)
        try container.encode(texts, forKey: .texts)
    }
}

/// Fails after so many numbers, if it is told to.
private struct Failing: Codable, Sendable {
    static let fails = Lock(true)
    var numbers: [Int]
    struct Failure: Error {}

    init(_ numbers: [Int]) { self.numbers = numbers }
    init(from decoder: any Decoder) throws { numbers = try decoder.singleValueContainer().decode([Int].self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for number in numbers { try container.encode(number) }
        if Self.fails.withLock({ $0 }) { throw Failure() }
    }
}

/// Values that are encoded when they are spilled, and never else.
@Suite(.timeLimit(.minutes(15))) struct CodedTests {
    @Test func aValueIsEncodedWhenItIsSpilledAndNeverElse() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let app = try addController("app", to: manager.root)
        let cache = try app.cache("value") { Coded(Counted(1)) }
        _ = try await cache.value()
        for _ in 0..<10 { try cache.update { $0.value.texts.append("more") } }
        #expect(cache.byteCount > .zero)
        _ = manager.snapshot()
        #expect(Counted.encoded(1) == 0)
        #expect(await manager.simulateMemoryWarning(.critical).evictedCount == 1)
        #expect(Counted.encoded(1) == 1 && Counted.decoded(1) == 0)
        #expect(try await cache.value().value.texts.count == 12)
        #expect(Counted.encoded(1) == 1 && Counted.decoded(1) == 1)
        // Its copy is as good as ever.
        #expect(await manager.simulateMemoryWarning(.critical).evictedCount == 1)
        #expect(Counted.encoded(1) == 1)
        try cache.update { $0.value.texts.append("more") }
        #expect(await manager.simulateMemoryWarning(.critical).evictedCount == 1)
        #expect(Counted.encoded(1) == 2)
        #expect(try await cache.value().value.texts.count == 13)
    }

    /// Small values are written many at a time, of sizes that are not known before.
    @Test func ofManyValuesEachIsEncodedOnce() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem(), workers: 2)
        let app = try addController("app", to: manager.root)
        let cache = try app.keyedCache("values", key: Int.self, value: Coded<Counted>.self)
        let numbers = 1_000..<1_600
        func texts(_ number: Int) -> [String] {
            // The longest do not fit a batch, though they are taken for such: strings in one literal have no memory.
            let length = number % 50 == 0 ? 30_000 : number % 7 * 300
            return [
                String(
                    decoding: makeBytes(length, seed: UInt64(number), randomBits: 6).map { $0 & 63 + 32 },
                    as: UTF8.self
                )
            ]
        }
        for number in numbers {
            cache.set(Coded(Counted(number, texts: texts(number)), footprint: .bytes(900)), for: number)
        }
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.evictedCount == numbers.count && report.failures == [])
        for number in numbers { #expect(Counted.encoded(number) == 1) }
        for number in numbers { #expect(try await cache.value(for: number).value.texts == texts(number)) }
        for number in numbers { #expect(Counted.encoded(number) == 1 && Counted.decoded(number) == 1) }
    }

    @Test(arguments: [0, 1, 32_000, 262_144, 400_000, 1_500_000])
    func valuesOfAnyLengthComeBack(count: Int) async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem(), workers: 2)
        let app = try addController("app", to: manager.root)
        let bytes = makeBytes(count, seed: 7, randomBits: 5)
        let cache = try app.cache("value", initialValue: Coded(["a": bytes, "b": [1]]))
        for round in 0..<2 {
            let report = await manager.simulateMemoryWarning(.critical)
            #expect(report.evictedCount == 1 && report.failures == [])
            #expect(try await cache.value().value == ["a": bytes, "b": [1]])
            if round == 0 { try cache.update { $0.value["b"] = [1] } }
        }
        try cache.invalidate()
        #expect(manager.snapshot().stored == .zero)
    }

    /// After the first chunks are written already.
    @Test(arguments: [10, 300_000]) func aValueThatFailsStaysAndLeavesNothingBehind(count: Int) async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let app = try addController("app", to: manager.root)
        let numbers = (0..<count).map { $0 * 1_000 }
        let cache = try app.cache("value", initialValue: Coded(Failing(numbers)))
        Failing.fails.withLock { $0 = true }
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.skipped.map(\.reason) == [.spillFailed])
        #expect(report.failures.map(\.code) == [.spillFailed])
        #expect(cache.isLoaded && manager.snapshot().stored == .zero)
        Failing.fails.withLock { $0 = false }
        #expect(await manager.simulateMemoryWarning(.critical).evictedCount == 1)
        #expect(try await cache.value().value.numbers == numbers)
    }

    /// A disk that fails in the middle of a value.
    @Test func aDiskThatFailsLeavesTheValueInMemory() async throws {
        let base = InMemoryFileSystem()
        let disk = FaultyFileSystem(wrapping: base)
        let manager = try makeManager(fileSystem: disk)
        let app = try addController("app", to: manager.root)
        let numbers = makeBytes(900_000, seed: 3, randomBits: 8)
        let cache = try app.cache("value", initialValue: Coded(numbers))
        disk.set(.init(.error(ENOSPC), on: .write, .from(2)))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.isLoaded)
        #expect(try await cache.value().value == numbers)
    }

    @Test func savedStatesHaveTheSameValues() async throws {
        let disk = InMemoryFileSystem()
        let texts = (0..<40_000).map { "text number \($0)" }
        do {
            let manager = try makeManager(fileSystem: disk)
            let app = try addController("app", to: manager.root)
            let spilled = try app.cache("spilled", initialValue: Coded(Counted(4, texts: texts)))
            _ = await manager.simulateMemoryWarning(.critical)
            #expect(spilled.residency == .spilled)
            let held = try app.cache("held", initialValue: Coded(Counted(2, texts: texts)))
            _ = try app.cache("json", initialValue: Coded(Counted(3), coding: .json))
            Failing.fails.withLock { $0 = true }
            _ = try app.cache("bad", initialValue: Coded(Failing([1])))
            let report = try await manager.saveState(to: StateBench.directory, version: "1")
            #expect(report.failures.map(\.code) == [.spillFailed])
            #expect(Counted.encoded(2) == 1 && held.isLoaded)
            #expect(Counted.encoded(4) == 1)
        }
        disk.endProcess()
        let manager = try makeManager(fileSystem: disk)
        let app = try addController("app", to: manager.root)
        let held = try app.cache("held", of: Coded<Counted>.self)
        let json = try app.cache("json", of: Coded<Counted>.self)
        let spilled = try app.cache("spilled", of: Coded<Counted>.self)
        _ = try await manager.restoreState(from: StateBench.directory, version: "1")
        #expect(try await held.value().value == Counted(2, texts: texts))
        #expect(try await spilled.value().value == Counted(4, texts: texts))
        #expect(try await json.value().coding == .json)
        #expect(Counted.encoded(2) == 1 && Counted.decoded(2) == 1)
    }

    @Test func jsonIsReadWithoutBeingAskedFor() throws {
        struct Session: Codable, Equatable { var user: String, scores: [String: Double] }
        let session = Session(user: "Å", scores: ["a": 1.5])
        let old = Array(#"{"footprint":77,"value":{"scores":{"a":1.5},"user":"Å"}}"#.utf8)
        let coded = try restored(Coded<Session>.self, of: old)
        #expect(coded.value == session && coded.footprint == 77 && coded.coding == .json)
        #expect(spillBytes(of: coded) == old)
        #expect(throws: DecodingError.self) { try restored(Coded<Session>.self, of: []) }
        #expect(throws: DecodingError.self) { try restored(Coded<Session>.self, of: [0xC1]) }
        #expect(throws: DecodingError.self) { try restored(Coded<Session>.self, of: [7, 7]) }
    }

    /// The footprint is asked for after a change now and then: the number of times grows as the logarithm.
    @Test func manyChangesAskForTheFootprintSeldom() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let app = try addController("app", to: manager.root)
        let lazy = try app.cache("numbers", initialValue: Asking())
        let keyed = try app.keyedCache("by key", key: Int.self, value: Asking.self)
        keyed.set(Asking(), for: 1)
        Asking.asked.withLock { $0 = 0 }
        for number in 0..<4_096 {
            try lazy.update { $0.numbers.append(number) }
            try keyed.update(for: 1) { $0.numbers.append(number) }
        }
        #expect(Asking.asked.withLock { $0 } < 60)
        // There are at most half as many again as when it was asked.
        #expect(lazy.byteCount > .bytes(4_096 * 8 * 2 / 3))
        #expect(keyed.residentByteCount == lazy.byteCount)
        #expect(await manager.simulateMemoryWarning(.critical).evictedCount == 2)
        #expect(try await lazy.value().numbers == Array(0..<4_096))
    }
}

/// Counts how often it is asked for its footprint; and a conformance by hand.
private struct Asking: EncodedSpillable {
    static let asked = Lock(0)
    var numbers: [Int] = []

    var footprint: Int {
        Self.asked.withLock { $0 += 1 }
        return 100 + numbers.count * 8
    }

    init() {}

    func writeSpillBytes(to writer: SpillWriter) throws {
        for number in numbers { try writer.write(number) }
    }

    init(spillBytes: RawSpan) throws {
        numbers = (0..<spillBytes.byteCount / 8).map { index in
            // Every eight bytes are a number.
            unsafe spillBytes.unsafeLoadUnaligned(fromByteOffset: index * 8, as: Int.self)
        }
    }
}
