import Foundation
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Values are read as what they were written as, or not at all; and never past the memory that is there for them.
@Suite(.timeLimit(.minutes(15))) struct StateLayoutTests {
    private static let directory = "/var/tmp/state"
    private let base = InMemoryFileSystem()

    struct Point: SpillableElement, Equatable {
        var x: Double
        var y: Int32
    }

    /// Saves an app with a value, by itself and by key, as a type that has changed since would have been saved.
    private func save<Value: Spillable>(_ value: Value, as change: (inout StateManifest.Cache) -> Void) async throws {
        let manager = try makeManager(fileSystem: base)
        let app = try addController("app", to: manager.root)
        let one = try app.cache("one", initialValue: value)
        let many = try app.keyedCache("many", key: Int.self, value: Value.self)
        many.set(value, for: 1)
        try await manager.saveState(to: Self.directory)
        await manager.shutdown()
        withExtendedLifetime((one, many)) {}
        base.endProcess()
        try rewrite { manifest in
            for index in manifest.root.children[0].caches.indices { change(&manifest.root.children[0].caches[index]) }
        }
    }

    private func rewrite(format: UInt32 = StateTrailer.version, _ change: (inout StateManifest) -> Void) throws {
        let path = "\(Self.directory)/state"
        let bytes = try #require(base.contents(named: path))
        let old = try StateTrailer(Array(bytes.suffix(StateTrailer.byteCount)), ofFileWith: UInt64(bytes.count))
        let start = Int(old.units) * ExtentAllocator.unitSize
        var manifest = try StateManifest(bytes[start..<bytes.count - StateTrailer.byteCount], units: UInt32(old.units))
        change(&manifest)
        var trailer = StateTrailer(units: old.units, manifest: manifest.encoded)
        trailer.version = format
        base.setContents(Array(bytes[..<start]) + manifest.encoded + trailer.encoded, named: path)
    }

    /// The failures that a restoration names, and what the caches of the type that there is now have then.
    private func restore<Value: Spillable>(_ type: Value.Type, isThereBefore: Bool) async throws -> [PressureError] {
        let manager = try makeManager(fileSystem: base)
        let app = try addController("app", to: manager.root)
        let early =
            isThereBefore
            ? try (try app.cache("one", of: type), app.keyedCache("many", key: Int.self, value: type)) : nil
        var events = manager.events.makeAsyncIterator()
        let report = try await manager.restoreState(from: Self.directory)
        let (one, many) =
            try early ?? (try app.cache("one", of: type), app.keyedCache("many", key: Int.self, value: type))
        #expect(one.residency == .unloaded)
        #expect(many.residency(for: 1) == .unloaded)
        #expect(report.caches == [])
        await manager.shutdown()
        base.endProcess()
        if isThereBefore { return report.failures }
        // They have ended with the manager.
        var failures: [PressureError] = []
        while let event = await events.next() {
            if case .failure(let failure) = event { failures.append(failure) }
        }
        return failures
    }

    /// What an array of an element with the same name and another stride would be written over: 20 bytes are two and a
    /// half of the new elements.
    @Test(arguments: [false, true])
    func anArrayWhoseElementHasChangedItsStrideIsNotRead(isThereBefore: Bool) async throws {
        try await save([Int32](0..<5)) { $0.type = "Swift.Array<Swift.Int64>" }
        let failures = try await restore([Int64].self, isThereBefore: isThereBefore)
        #expect(failures.map(\.code) == [.stateMismatch, .stateMismatch])
        #expect(failures.compactMap(\.path).sorted() == ["app/many", "app/one"])
        #expect(failures.allSatisfy { $0.message.contains("stride 4") && $0.message.contains("stride 8") })
    }

    /// Also where the length would fit.
    @Test func sizeStrideAndAlignmentAllCount() async throws {
        let points = [Point](repeating: Point(x: 1, y: 2), count: 6)
        #expect(ElementLayout(of: Point.self) == ElementLayout(size: 12, stride: 16, alignment: 8))
        for (size, stride, alignment) in [(16, 16, 8), (12, 12, 8), (12, 16, 4), (12, 48, 8), (0, 0, 0)]
            as [(UInt32, UInt32, UInt32)]
        {
            try await save(points) { cache in
                cache.layout = ElementLayout(size: size, stride: stride, alignment: alignment)
            }
            let failures = try await restore([Point].self, isThereBefore: true)
            #expect(failures.map(\.code) == [.stateMismatch, .stateMismatch], "\(size), \(stride), \(alignment)")
        }
    }

    /// The state contradicts itself: the layout is the right one, and the bytes are not whole elements.
    @Test func aLengthThatIsNotWholeElementsIsDamage() async throws {
        try await save([Int32](0..<5)) { cache in
            cache.type = "Swift.Array<Swift.Int64>"
            cache.layout = ElementLayout(of: Int64.self)
        }
        let error = await #expect(throws: PressureError.self) {
            try await restore([Int64].self, isThereBefore: true)
        }
        #expect(error?.code == .stateRefused)
        #expect(error?.message.contains("not whole elements") == true)
    }

    /// It had no layouts, so nobody knows what its arrays are.
    @Test func aStateOfTheFirstFormatIsRefusedWholeAndSaysWhy() async throws {
        try await save([Int32](0..<5)) { _ in }
        try rewrite(format: 1) { _ in }
        let error = await #expect(throws: PressureError.self) {
            try await restore([Int32].self, isThereBefore: true)
        }
        #expect(error?.code == .stateRefused)
        #expect(error?.message.contains("format 1, of an earlier version of this library") == true)
    }

    @Test func everyConformanceComesBackFromAState() async throws {
        func comesBack<Value: Spillable & Equatable>(_ value: Value) async throws {
            try await save(value) { _ in }
            let manager = try makeManager(fileSystem: base)
            let app = try addController("app", to: manager.root)
            #expect(try await manager.restoreState(from: Self.directory).failures == [])
            #expect(try await app.cache("one", of: Value.self).value() == value)
            let many = try app.keyedCache("many", key: Int.self, value: Value.self)
            #expect(try await many.value(for: 1) == value)
            await manager.shutdown()
            base.endProcess()
        }
        try await comesBack([Int8](repeating: -3, count: 5))
        try await comesBack([Point](repeating: Point(x: 1, y: 2), count: 40_000))
        try await comesBack([Point]())
        try await comesBack("written")
        try await comesBack(Data(makeBytes(300_000, seed: 1)))
        try await comesBack(PageBuffer(makeBytes(5000, seed: 2)))
    }

    // MARK: Nothing is written past its end

    /// Before anything is written; a debug build would trap there otherwise, and a release write behind the storage.
    @Test(arguments: [1, 4, 15, 17, 4095]) func anArrayTakesWholeElementsOnly(byteCount: Int) {
        var isFilled = false
        let error = #expect(throws: PressureError.self) {
            _ = try unsafe [Point](spillByteCount: byteCount) { _ in isFilled = true }
        }
        #expect(error?.code == .damagedCopy)
        #expect(!isFilled)
    }

    /// A value that gives less room than it has bytes, between two rows of bytes that nobody may touch.
    private struct Miser: Spillable {
        static let guardLength = 4096
        static let guards = Lock<[UInt8]>([])
        let bytes: [UInt8]
        let missing: Int

        init(_ bytes: [UInt8], missing: Int) { (self.bytes, self.missing) = (bytes, missing) }

        var spillByteCount: Int { bytes.count }
        static var spillsInPlace: Bool { true }
        func withSpillBytes(_ body: (RawSpan) -> Void) { unsafe bytes.withUnsafeBytes { unsafe body($0.bytes) } }

        init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
            let missing = 100
            var room = [UInt8](repeating: 0xA5, count: spillByteCount + 2 * Self.guardLength)
            defer {
                let count = spillByteCount - missing
                Self.guards.withLock {
                    $0 = Array(room.prefix(Self.guardLength) + room.dropFirst(Self.guardLength + count))
                }
            }
            unsafe try room.withUnsafeMutableBytes { room in
                let end = Self.guardLength + spillByteCount - missing
                try unsafe fill(UnsafeMutableRawBufferPointer(rebasing: room[Self.guardLength..<end]))
            }
            self.init(Array(room[Self.guardLength...].prefix(spillByteCount)), missing: missing)
        }
    }

    @Test(arguments: [1000, 600_000]) func aValueThatGivesTooLittleRoomIsAnError(byteCount: Int) async throws {
        let manager = try makeManager(fileSystem: base)
        let app = try addController("app", to: manager.root)
        let cache = try app.cache("miser", initialValue: Miser(makeBytes(byteCount, seed: 3), missing: 0))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency == .spilled)
        let error = #expect(throws: PressureError.self) { try cache.withValue { _ in } }
        #expect(error?.code == .restoreFailed)
        #expect(error?.message.contains("gave room for \(byteCount - 100) bytes") == true)
        let guards = Miser.guards.withLock { $0 }
        #expect(guards.count == 2 * Miser.guardLength + 100)
        #expect(guards.allSatisfy { $0 == 0xA5 })
    }

    /// One whose bytes have become more since it was set, which nobody was told of.
    private final class Growing: Spillable {
        let count: Lock<Int>

        init(_ count: Int) { self.count = Lock(count) }
        var spillByteCount: Int { count.withLock { $0 } }
        func withSpillBytes(_ body: (RawSpan) -> Void) {
            let bytes = [UInt8](repeating: 7, count: spillByteCount)
            unsafe bytes.withUnsafeBytes { unsafe body($0.bytes) }
        }
        init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
            var bytes = [UInt8](repeating: 0, count: spillByteCount)
            unsafe try bytes.withUnsafeMutableBytes { try unsafe fill($0) }
            count = Lock(spillByteCount)
        }
    }

    @Test func aValueThatPassesOtherBytesThanItSaidIsLeftOutAndTheRestIsSaved() async throws {
        let manager = try makeManager(fileSystem: base)
        let app = try addController("app", to: manager.root)
        let growing = Growing(100)
        _ = try app.cache("growing", initialValue: growing)
        _ = try app.cache("sound", initialValue: "sound")
        growing.count.withLock { $0 = 300_000 }
        let report = try await manager.saveState(to: Self.directory)
        #expect(report.failures.map(\.path) == ["app/growing"])
        #expect(report.caches == ["app/sound"])
        await manager.shutdown()
        base.endProcess()
        let next = try makeManager(fileSystem: base)
        let again = try addController("app", to: next.root)
        try await next.restoreState(from: Self.directory)
        #expect(try await again.cache("sound", of: String.self).value() == "sound")
    }
}
