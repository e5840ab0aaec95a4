import PressureKitTesting
import SystemPackage
import Testing

@testable import PressureKit

/// File systems without nameless files: a process that is killed between making its file and removing the name leaves an
/// empty one, and the next process removes it.
@Suite struct LeftNameTests {
    private let disk = InMemoryFileSystem()
    private var path: String { "/var/tmp/.pressurekit-\(disk.effectiveUser)" }

    init() { disk.setSupportsNameless(false) }

    @Test func whatAKilledProcessLeftIsRemovedByTheNext() throws {
        _ = try disk.openExclusive(path)
        disk.endProcess()
        #expect(disk.contents(named: path) != nil)
        let descriptor = try disk.openTemporary(in: "/var/tmp")
        #expect(disk.contents(named: path) == nil)
        #expect(disk.names == [])
        disk.close(descriptor)
    }

    /// The other has removed our name together with its own, or before.
    @Test func twoThatOpenAtOnceBothHaveAFile() throws {
        let faulty = FaultyFileSystem(wrapping: disk)
        faulty.set(.init(.error(Errno.noSuchFileOrDirectory.rawValue), on: .unlink, .once(2)))
        let descriptor = try faulty.openTemporary(in: "/var/tmp")
        #expect(faulty.faults == 1 && disk.openFiles == 1)
        faulty.close(descriptor)
    }

    /// Somebody else's file of that name can be neither used nor removed.
    @Test func aNameThatIsSomebodyElsesIsLeftAlone() throws {
        let other = try disk.openExclusive(path)
        let faulty = FaultyFileSystem(wrapping: disk)
        faulty.set(.init(.error(Errno.notPermitted.rawValue), on: .unlink, .once(1)))
        let descriptor = try faulty.openTemporary(in: "/var/tmp")
        #expect(disk.names == [path])
        #expect(descriptor != other)
        faulty.close(descriptor)
        disk.close(other)
    }
}
