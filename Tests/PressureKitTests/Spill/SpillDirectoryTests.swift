#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTesting
import SystemPackage
import Testing

@testable import PressureKit

@Suite struct SpillDirectoryTests {
    private static let ext4: UInt32 = 0xEF53
    private static let tmpfs: UInt32 = 0x0102_1994

    /// A disk with the usual places and one of each kind that is no good.
    private func disk() -> InMemoryFileSystem {
        let disk = InMemoryFileSystem()
        func add(
            _ path: String,
            owner: UInt32 = 1000,
            mode: UInt32 = 0o700,
            magic: UInt32 = Self.ext4,
            on device: String? = "vda1",
            link: UInt32? = nil
        ) {
            var facts = DirectoryFacts(isDirectory: true, owner: owner, permissions: mode, magic: magic, device: device)
            facts.linkOwner = link
            disk.setDirectory(path, facts)
        }
        add("/spill")
        add("/shared", owner: 0, mode: 0o1777)
        add("/open", owner: 0, mode: 0o777)
        add("/theirs", owner: 1001, mode: 0o755)
        add("/theirs-sticky", owner: 1001, mode: 0o1777)
        add("/ramfs", magic: 0x8584_58F6, on: nil)
        add("/huge", magic: 0x9584_58F6, on: nil)
        add("/zram", on: "zram0")
        // Where they lead is ours, but who chose it?
        for (name, user) in [("root", 0), ("own", disk.effectiveUser), ("their", 1001)] as [(String, UInt32)] {
            add("/\(name)-link", owner: disk.effectiveUser, link: user)
        }
        add("/overlay", magic: 0x794C_7630, on: nil)
        disk.setDirectory(
            "/file",
            DirectoryFacts(isDirectory: false, owner: 1000, permissions: 0o600, magic: 0, device: nil)
        )
        return disk
    }

    private func choose(
        _ option: String?,
        _ environment: [String: String] = [:],
        on fileSystem: any FileSystem,
        allowsRAM: Bool = false
    ) throws(PressureError) -> SpillDirectory {
        try SpillDirectory.choose(
            option: option,
            environment: environment,
            fileSystem: fileSystem,
            allowsRAM: allowsRAM
        )
    }

    @Test func theOptionComesBeforeTheEnvironmentAndThatBeforeVarTmp() throws {
        let disk = disk()
        let environment = ["TMPDIR": "/shared"]
        #expect(try choose("/spill", environment, on: disk).path == "/spill")
        #expect(try choose(nil, environment, on: disk).path == "/shared")
        #expect(try choose(nil, ["TMPDIR": ""], on: disk).path == "/var/tmp")
        #expect(try choose(nil, [:], on: disk).origin == .fallback)
        #expect(disk.openFiles == 0)
    }

    @Test(arguments: ["/spill", "/shared", "/theirs-sticky", "/overlay", "/own-link", "/root-link"])
    func aPrivateOrStickyDirectoryOnADiskIsTaken(_ path: String) throws {
        let directory = try choose(path, on: disk())
        #expect(directory.origin == .option)
        #expect(!directory.isMemoryBacked)
    }

    @Test(arguments: [
        ("/dev/shm", "tmpfs"), ("/ramfs", "ramfs"), ("/huge", "hugetlbfs"), ("/zram", "zram"),
    ])
    func memoryIsRefusedUnlessItIsAllowed(_ path: String, _ medium: String) throws {
        let disk = disk()
        let error = try #require(throws: PressureError.self) { try choose(path, on: disk) }
        #expect(error.code == .spillDirectoryInMemory)
        for word in [path, medium, "/var/tmp", "spillDirectory"] { #expect(error.message.contains(word)) }
        #expect(try choose(path, on: disk, allowsRAM: true).isMemoryBacked)
    }

    @Test func aTMPDIRInMemoryIsPassedOverForADisk() throws {
        let disk = disk()
        let environment = ["TMPDIR": "/dev/shm"]
        let directory = try choose(nil, environment, on: disk)
        #expect(directory.path == "/var/tmp" && directory.origin == .fallback && !directory.isMemoryBacked)
        disk.setDirectory(
            "/var/tmp",
            DirectoryFacts(isDirectory: true, owner: 0, permissions: 0o1777, magic: Self.tmpfs, device: nil)
        )
        let error = try #require(throws: PressureError.self) { try choose(nil, environment, on: disk) }
        #expect(error.code == .spillDirectoryInMemory)
        #expect(error.message.contains("/dev/shm") && error.message.contains("TMPDIR"))
        #expect(try choose(nil, environment, on: disk, allowsRAM: true).path == "/dev/shm")
    }

    @Test(arguments: [
        ("/missing", "No such file or directory"), ("/file", "not a directory"),
        ("/theirs", "another user"), ("/their-link", "symbolic link of another user (1001)"), ("", "not a path"),
        ("/spill\0/x", "not a path"),
    ])
    func whatCannotBeUsedIsRefusedWithTheReasonAndTheRemedy(_ path: String, _ reason: String) throws {
        let error = try #require(throws: PressureError.self) { try choose(path, on: disk()) }
        #expect(error.code == .spillDirectoryUnusable)
        #expect(error.message.contains(reason), "\(error.message)")
        #expect(error.message.contains("Set spillDirectory to"))
    }

    /// An emptyDir of Kubernetes is open to everybody. A file without a name is safe there; one with a name for a moment
    /// is not.
    @Test func anOpenDirectoryIsTakenForFilesWithoutANameOnly() throws {
        let disk = disk()
        #expect(try choose("/open", on: disk).path == "/open")
        #expect(disk.openFiles == 0)
        disk.setSupportsNameless(false)
        let error = try #require(throws: PressureError.self) { try choose("/open", on: disk) }
        #expect(error.code == .spillDirectoryUnusable && error.message.contains("sticky"), "\(error.message)")
        #expect(try choose("/shared", on: disk).path == "/shared")
    }

    @Test(arguments: [Errno.permissionDenied, .readOnlyFileSystem, .noSpace, .tooManyOpenFiles])
    func aDirectoryThatTakesNoFileIsRefused(_ errno: Errno) throws {
        let faulty = FaultyFileSystem(wrapping: disk())
        faulty.set(.init(.error(errno.rawValue), on: .open))
        let error = try #require(throws: PressureError.self) { try choose("/spill", on: faulty) }
        #expect(error.code == .spillDirectoryUnusable)
        #expect(error.errno == errno.rawValue)
    }

    @Test func aFileThatCannotBeOpenedLaterIsAnErrorOfTheSameKind() throws {
        let faulty = FaultyFileSystem(wrapping: disk())
        let directory = try choose("/spill", on: faulty)
        faulty.set(.init(.error(Errno.tooManyOpenFiles.rawValue), on: .open))
        let error = try #require(throws: PressureError.self) {
            try SegmentFile(directory: directory, fileSystem: faulty)
        }
        #expect(error.code == .spillDirectoryUnusable)
        #expect(error.message.contains("ulimit -n"))
    }
}
#endif
