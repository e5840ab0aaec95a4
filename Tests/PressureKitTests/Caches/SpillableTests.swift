import Foundation
import PressureKit
import PressureKitTestSupport
import PressureKitTesting
import Testing

/// Every conformance, through a real reclaim and back.
@Suite(.timeLimit(.minutes(15))) struct SpillableTests {
    struct Point: SpillableElement, Equatable {
        var x: Double
        var y: Int32
    }

    struct Session: Codable, Sendable, Equatable {
        var user: String
        var scores: [String: Double]
    }

    /// Spills a value and brings it back. What has no bytes in memory is not worth evicting and stays.
    private func roundTrip<Value: Spillable & Equatable>(_ value: Value) async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem(), workers: 2)
        let controller = try addController("app", to: manager.root)
        let cache = try controller.cache("value", initialValue: value)
        for _ in 0..<2 {
            let report = await manager.simulateMemoryWarning(.critical)
            #expect(report.failures == [])
            #expect(cache.residency == (value.footprint > 0 ? .spilled : .resident))
            #expect(report.claimed == .bytes(value.footprint))
            #expect(try await cache.value() == value)
        }
        try cache.invalidate()
        #expect(manager.snapshot().stored == .zero)
    }

    static let chunk = 256 << 10

    @Test(arguments: [0, 1, 7, 4096, chunk - 1, chunk, chunk + 1, 3 * chunk])
    func arraysOfBytes(count: Int) async throws { try await roundTrip(makeBytes(count, seed: 1)) }

    @Test(arguments: [0, 1, chunk / 8, chunk / 8 + 1])
    func arraysOfNumbers(count: Int) async throws {
        try await roundTrip([Double](repeating: -.pi, count: count))
        try await roundTrip([Bool](repeating: true, count: count))
        try await roundTrip([Int16](repeating: -7, count: count))
    }

    /// What `append` reserves is memory too, as much as the elements take; what an allocator rounds up to is next to nothing.
    @Test func whatAnArrayHasReservedCounts() throws {
        for count in [1, 1000, 10_000, 3 << 20] {
            #expect([UInt8](repeating: 1, count: count).footprint == count)
        }
        let manager = try makeManager()
        let cache = try manager.root.cache("series", initialValue: [UInt64](repeating: 1, count: 10_000))
        #expect(manager.snapshot().resident == .bytes(80_000))
        let reserved = try cache.update {
            $0.append(contentsOf: [2, 3])
            return $0.capacity
        }
        #expect(reserved > 15_000)
        #expect(manager.snapshot().resident == .bytes(8 * reserved))
    }

    @Test(arguments: [0, 1, 100, 20_000])
    func arraysOfStructsOfOnesOwn(count: Int) async throws {
        try await roundTrip([Point](repeating: Point(x: 0.5, y: -3), count: count))
    }

    @Test(arguments: [
        "", "a", "fifteen bytes ok", "Grüße, 東京 👩‍👩‍👧 e\u{301}", String(repeating: "ä", count: 200_000), "\0nul\0",
    ])
    func strings(_ text: String) async throws { try await roundTrip(text) }

    @Test(arguments: [0, 1, chunk, chunk + 1])
    func data(count: Int) async throws { try await roundTrip(Data(makeBytes(count, seed: 2))) }

    /// A slice does not start at index zero.
    @Test func aSliceOfData() async throws { try await roundTrip(Data(makeBytes(1000, seed: 3))[100..<900]) }

    @Test(arguments: [0, 1, 4096, 4097, chunk, chunk + 1, 4 << 20])
    func pageBuffers(count: Int) async throws {
        try await roundTrip(PageBuffer(makeBytes(count, seed: 4, randomBits: 2)))
    }

    @Test func codableValues() async throws {
        let session = Session(user: "Ångström", scores: ["a": 1.5, "b": -2, "c": 1e300])
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let cache = try controller.cache("session", initialValue: Coded(session, footprint: .kibibytes(5)))
        #expect(await manager.simulateMemoryWarning(.critical).claimed == .kibibytes(5))
        #expect(cache.residency == .spilled)
        #expect(try await cache.value().value == session)
        // The footprint that was stated comes back with it.
        #expect(await manager.simulateMemoryWarning(.critical).claimed == .kibibytes(5))
    }

    /// What cannot be encoded stays, the report says so, and the disk is not blamed: others are written.
    @Test func aValueThatCannotBeEncodedStaysAndStopsNobody() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let bad = try (0..<5).map {
            try controller.cache("bad\($0)", initialValue: Coded(Double.nan, footprint: .bytes(100), coding: .json))
        }
        let good = try controller.cache("good", initialValue: makeBytes(1000, seed: 5))
        for _ in 0..<2 {
            let report = await manager.simulateMemoryWarning(.critical)
            #expect(report.claimed == .bytes(1000))
            #expect(
                report.skipped.map(\.reason) == [.spillFailed, .spillFailed, .spillFailed, .spillFailed, .spillFailed]
            )
            #expect(
                report.failures.map(\.code) == [.spillFailed, .spillFailed, .spillFailed, .spillFailed, .spillFailed]
            )
            #expect(bad.map(\.isLoaded) == [true, true, true, true, true])
            #expect(try await good.value() == makeBytes(1000, seed: 5))
        }
    }

    // MARK: PageBuffer

    @Test func copiesOfAPageBufferSharePagesUntilOneIsChanged() {
        func address(_ buffer: PageBuffer) -> UInt {
            // Only the number is used.
            unsafe buffer.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        }
        let original = PageBuffer([1, 2, 3])
        var copy = original
        #expect(address(copy) == address(original))
        // Three bytes were mapped.
        unsafe copy.withUnsafeMutableBytes { unsafe $0[0] = 9 }
        #expect(address(copy) != address(original))
        #expect(copy == PageBuffer([9, 2, 3]))
        #expect(original == PageBuffer([1, 2, 3]))
        let before = address(copy)
        // As above.
        unsafe copy.withUnsafeMutableBytes { unsafe $0[1] = 8 }
        #expect(address(copy) == before, "copied although nobody shares it")
    }

    @Test func pageBuffersAreEqualByTheirBytes() {
        #expect(PageBuffer([1, 2]) == PageBuffer([1, 2]))
        #expect(PageBuffer([1, 2]).hashValue == PageBuffer([1, 2]).hashValue)
        #expect(PageBuffer([1, 2]) != PageBuffer([1, 3]))
        #expect(PageBuffer([1, 2]) != PageBuffer([1, 2, 0]))
        #expect(PageBuffer(byteCount: 0) == PageBuffer([]))
        #expect(PageBuffer(byteCount: 3) == PageBuffer([0, 0, 0]))
        #expect(Set([PageBuffer([1]), PageBuffer([1]), PageBuffer([2])]).count == 2)
        #expect(PageBuffer(byteCount: 0).footprint == 4096)
        #expect(PageBuffer(byteCount: 4097).footprint == 8192)
    }
}
