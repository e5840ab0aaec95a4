#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import SpillStore

/// A saved state of which anything is wrong is refused whole; nothing that a state says ends the process.
@Suite(.timeLimit(.minutes(10))) struct StateDamageTests {
    static let directory = "/var/tmp/state"
    static let path = "\(directory)/state"

    private let base = InMemoryFileSystem()

    /// A small state of every kind of value, and how many bytes of it its frames take.
    private func makeState() async throws -> (bytes: [UInt8], frames: [Range<Int>], manifest: Range<Int>) {
        let bench = try FaultBench(on: base)
        try bench.add("mine", makeBytes(60, seed: 1))
        try bench.add("empty", [])
        let tiles = try bench.controller.keyedCache("tiles", key: Int.self, value: [UInt8].self)
        for key in 0..<2 { tiles.set(makeBytes(50, seed: UInt64(key)), for: key) }
        try await bench.manager.saveState(to: Self.directory)
        await bench.manager.shutdown()
        base.endProcess()
        let bytes = try #require(base.contents(named: Self.path))
        let trailer = try StateTrailer(Array(bytes.suffix(StateTrailer.byteCount)), ofFileWith: UInt64(bytes.count))
        let start = Int(trailer.units) * ExtentAllocator.unitSize
        let manifest = start..<bytes.count - StateTrailer.byteCount
        let root = try StateManifest(bytes[manifest], units: UInt32(trailer.units)).root
        let records = root.children.flatMap(\.caches).flatMap(\.values).flatMap(\.records)
        let frames = records.map { Int($0.offset)..<Int($0.offset) + Int($0.storedLength) }
        return (bytes, frames, manifest)
    }

    private func isRefused(_ bytes: [UInt8], by directory: StateDirectory) throws -> Bool {
        base.setContents(bytes, named: Self.path)
        do throws(PressureError) {
            _ = try StateRestorer(place: directory).read()
            return false
        } catch {
            guard error.code == .stateRefused else { throw error }
            return true
        }
    }

    @Test func everyBitCounts() async throws {
        let (sound, frames, manifest) = try await makeState()
        let directory = try StateDirectory(Self.directory, fileSystem: base)
        #expect(try !isRefused(sound, by: directory))
        #expect(frames.count == 3)
        for range in frames + [manifest, manifest.upperBound..<sound.count] {
            for bit in range.lowerBound * 8..<range.upperBound * 8 {
                var bytes = sound
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                if try !isRefused(bytes, by: directory) { Issue.record("bit \(bit) of \(sound.count) bytes") }
            }
            figure("state: \(range.count * 8) bits")
        }
    }

    @Test func everyLengthCounts() async throws {
        let (sound, _, manifest) = try await makeState()
        let directory = try StateDirectory(Self.directory, fileSystem: base)
        let dense = Array(manifest.lowerBound - 64..<sound.count)
        for length in Array(stride(from: 0, to: manifest.lowerBound, by: 61)) + dense {
            if try !isRefused(Array(sound.prefix(length)), by: directory) { Issue.record("cut to \(length)") }
        }
        for more in 1...64 {
            if try !isRefused(sound + [UInt8](repeating: 0, count: more), by: directory) {
                Issue.record("\(more) longer")
            }
        }
    }

    /// A manifest with a wrong bit and the right checksum, as damage never makes it: refused, or values that can be read,
    /// or typed errors; the process goes on.
    @Test func aWrongManifestWithARightChecksumEndsNothing() async throws {
        let (sound, _, manifest) = try await makeState()
        let original = Array(sound[manifest])
        var refusals = 0
        var applied = 0
        let bench = try FaultBench(on: base)
        for bit in 0..<original.count * 8 {
            var changed = original
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            let units = manifest.lowerBound / ExtentAllocator.unitSize
            let trailer = StateTrailer(units: UInt64(units), manifest: changed).encoded
            base.setContents(Array(sound[..<manifest.lowerBound]) + changed + trailer, named: Self.path)
            do {
                try await bench.manager.restoreState(from: Self.directory)
            } catch {
                #expect(error.code == .stateRefused)
                refusals += 1
                continue
            }
            applied += 1
            let mine = try bench.controller.cache("mine", of: [UInt8].self)
            let tiles = try bench.controller.keyedCache("tiles", key: Int.self, value: [UInt8].self)
            _ = bench.manager.snapshot().tiers
            // Wrong by what the manifest says, but not by accident.
            if let found = try? mine.withValue({ $0 }) { #expect(isSame(found, makeBytes(60, seed: 1)), "bit \(bit)") }
            for key in 0..<4 { _ = try? tiles.withValue(for: key) { $0 } }
            _ = await bench.warn()
            bench.controller.removeCache(mine)
            bench.controller.removeCache(tiles)
        }
        #expect(refusals > 0 && applied > 0)
        figure("state: \(refusals) manifests with the right checksum refused, \(applied) applied")
    }
}
#endif
