import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// The power may fail before every call: what the disk then has is the state before or the state after, whole.
@Suite(.timeLimit(.minutes(10))) struct PowerLossTests {
    private static let directory = "/var/tmp/state"
    private static let path = "\(directory)/state"

    /// The version of a saved state that the disk would have; `nil` for none.
    ///
    /// - Throws: `PressureError` where it would be refused.
    private static func version(of bytes: [UInt8]?) throws -> String? {
        let disk = InMemoryFileSystem()
        let held = try StateDirectory(directory, fileSystem: disk)
        disk.setContents(bytes, named: path)
        return try StateRestorer(place: held).read()?.manifest.version
    }

    /// All versions that a loss of power now could leave; "refused" among them if one could not be read.
    private static func possible(_ disk: PowerLossDisk) -> Set<String> {
        Set(disk.possibleContents(named: path).map { (try? version(of: $0) ?? "none") ?? "refused" })
    }

    /// Saves three states one after the other, with values of every kind: what could be left before each call, and after
    /// each save.
    private static func saves(on disk: PowerLossDisk) async throws -> [(during: [Set<String>], after: Set<String>)] {
        let manager = try makeManager(fileSystem: disk)
        let controller = try addController("app", to: manager.root)
        let one = try controller.cache("one", initialValue: makeBytes(300_000, seed: 1))
        let tiles = try controller.keyedCache("tiles", key: Int.self, value: [UInt8].self)
        var saves: [(during: [Set<String>], after: Set<String>)] = []
        for number in 1...3 {
            for key in 0..<3 { tiles.set(makeBytes(5000, seed: UInt64(number * 10 + key)), for: key) }
            // Some from the spill file, some from memory.
            if number > 1 { _ = await manager.simulateMemoryWarning(.critical) }
            try one.update { $0[0] = UInt8(number) }
            let during = Shared<[Set<String>]>([])
            disk.onChange { during.change { $0.append(Self.possible(disk)) } }
            try await manager.saveState(to: directory, version: "\(number)")
            disk.onChange(nil)
            saves.append((during.value, possible(disk)))
        }
        await manager.shutdown()
        return saves
    }

    @Test func whatIsLeftIsTheOldStateOrTheNew() async throws {
        let saves = try await Self.saves(on: PowerLossDisk())
        var calls = 0
        for (number, save) in saves.enumerated() {
            let (old, new) = (number == 0 ? "none" : "\(number)", "\(number + 1)")
            #expect(save.during.count > 4, "too few calls to say anything")
            for (call, versions) in save.during.enumerated() {
                #expect(versions.isSubset(of: [old, new]), "save \(new), before call \(call): \(versions)")
            }
            #expect(save.during[0] == [old], "the new state is there before it is written")
            // Once the save has returned, nothing brings the old one back.
            #expect(save.after == [new])
            calls += save.during.count
        }
        figure("power: lost before each of \(calls) calls of three saves")
    }

    /// The directory's name is on the device with the first state, made by this process or, as when it was killed before
    /// it had saved anything, by another one.
    @Test(arguments: [false, true]) func aDirectoryThatWasMadeIsFoundAgain(byAnother: Bool) async throws {
        let disk = PowerLossDisk()
        if byAnother { _ = try StateDirectory(Self.directory, fileSystem: disk) }
        let manager = try makeManager(fileSystem: disk)
        try await manager.saveState(to: Self.directory, version: "1")
        #expect(Self.possible(disk) == ["1"])
        await manager.shutdown()
    }

    /// The model can tell: where synchronising does nothing, a state that cannot be read is among what may be left.
    @Test func aDiskThatLiesAboutSynchronisingIsNotSafe() async throws {
        let saves = try await Self.saves(on: PowerLossDisk(isHonest: false))
        #expect(saves.contains { $0.after.contains("refused") })
    }
}
