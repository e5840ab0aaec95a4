import Foundation
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSignals

/// Whatever input can size has a bound: beyond it the input is refused, before memory is taken for it. What scenarios can
/// size is in `BoundsTests`.
@Suite(.timeLimit(.minutes(5))) struct InputLimitTests {
    // MARK: Recordings

    @Test func aRecordingHasSoManyLinesAndNoMore() throws {
        let text = Array((SignalRecording.header + "\n#\n#\n").utf8)
        #expect(throws: Never.self) { try SignalRecording(parsing: text, mostLines: 3) }
        let fault = try #require(throws: SignalRecording.Fault.self) {
            try SignalRecording(parsing: text + [UInt8(ascii: "\n")], mostLines: 3)
        }
        #expect(fault.line == 4 && fault.message.contains("more than 3 lines"))
    }

    @Test func aRecordingHasSoManyBytesAndNoMore() throws {
        let fault = try #require(throws: SignalRecording.Fault.self) {
            try SignalRecording(parsing: [UInt8](repeating: 0, count: SignalRecording.mostBytes + 1))
        }
        #expect(fault.message.contains("256 MiB"))
    }

    /// One more than allowed of each number.
    @Test(arguments: [
        "slot 256 psi x", "slot 99999999999999999999 psi x", "sample 1152921504606846977",
        "freed 0 9223372036854775808",
        "reclaim 0 warning 9223372036854775808 1", "sample 0 0=headroom:1152921504606846976/1",
        "sample 0 0=headroom:1/1152921504606846977", "sample 0 0=demand:normal:1152921504606846976",
        "sample 0 0=events:0/0/0/1152921504606846976", "sample 0 0=stall:own:1152921504606846976/0:0.00/0.00",
        "sample 0 0=stall:own:0/0:101.00/0.00", "sample 0 0=demand:normal:age=1152921504606846977",
    ])
    func numbersOfARecordingAreBounded(line: String) {
        #expect(throws: SignalRecording.Fault.self) {
            try SignalRecording(parsing: Array("\(SignalRecording.header)\nslot 0 psi x\n\(line)\n".utf8))
        }
    }

    // MARK: Files of the kernel's

    /// No file of the kernel's has so many bytes; one that a service manager names may.
    @Test func aFileIsReadUpToFourMebibytes() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("pressurekit-limit-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(count: 5 << 20).write(to: URL(fileURLWithPath: path))
        let file = try ProcFile(path: path)
        #expect(file.readAll()?.count == 4 << 20)
        #expect(file.read { $0.count } == ProcFile.capacity)
    }

    // MARK: Saved states

    /// A sparse file of any length costs nothing to make.
    @Test func aManifestIsNotReadIfItClaimsTooMuch() throws {
        var trailer = StateTrailer(units: 0, manifest: [])
        trailer.manifestLength = StateTrailer.mostManifestBytes
        let size = trailer.manifestLength + UInt64(StateTrailer.byteCount)
        #expect(throws: Never.self) { try StateTrailer(trailer.encoded, ofFileWith: size) }
        trailer.manifestLength += 1
        #expect(throws: StateRefusal.damaged("its manifest is too long")) {
            try StateTrailer(trailer.encoded, ofFileWith: size + 1)
        }
    }

    /// A count that the rest of the bytes could not hold is refused where it stands.
    @Test(arguments: [(5, "items"), (9, "caches"), (13, "children")])
    func countsOfAManifestAreBoundedByItsLength(offset: Int, what: String) throws {
        // An empty version; a root without a name: its length, a flag, and three counts.
        var bytes = [UInt8](repeating: 0, count: 4 + 17)
        _ = try StateManifest(bytes[...], units: 1)
        bytes.replaceSubrange(4 + offset..<8 + offset, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: StateRefusal.damaged("a list is longer than the file")) {
            try StateManifest(bytes[...], units: 1)
        }
    }

    @Test func aStringOfAManifestIsBoundedByItsLength() {
        let bytes: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3]
        #expect(throws: StateRefusal.damaged("a field is longer than the file")) {
            try StateManifest(bytes[...], units: 1)
        }
    }

    /// A tree that could not be read again is not saved in place of one that can.
    @Test func aTreeIsSavedAsDeepAsItIsReadAndNoDeeper() async throws {
        let disk = InMemoryFileSystem()
        let manager = try makeManager(fileSystem: disk)
        var last = manager.root
        for depth in 1..<StateManifest.mostDepth { last = try addController("\(depth)", to: last) }
        try await manager.saveState(to: "/var/tmp/state")
        #expect(try await manager.restoreState(from: "/var/tmp/state").controllers.count == StateManifest.mostDepth - 1)
        _ = try addController("too deep", to: last)
        let refusal = await #expect(throws: PressureError.self) { try await manager.saveState(to: "/var/tmp/state") }
        #expect(refusal?.code == .stateNotSaved)
        #expect(try await manager.restoreState(from: "/var/tmp/state").controllers.count == StateManifest.mostDepth - 1)
        await manager.shutdown()
    }
}
