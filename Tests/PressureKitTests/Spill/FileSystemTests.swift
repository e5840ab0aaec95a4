#if !THREAD_SANITIZER  // One thread at a time.
import Foundation
import PressureKitTestSupport
import PressureKitTesting
import SystemPackage
import Testing

@testable import PressureKit

@Suite struct FileSystemTests {
    private let system = LinuxFileSystem()

    /// Calls `body` with a new, empty directory, removed afterwards.
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let url = URL(filePath: "/var/tmp/pressurekit-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: url) }
        try body(url.path())
    }

    private func names(_ directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory)
    }

    /// P7: a file without a name is gone with the process, whatever ends it.
    @Test func neitherWayOfOpeningLeavesAName() throws {
        try withDirectory { directory in
            let nameless = try system.openTemporary(in: directory)
            let faulty = FaultyFileSystem(system)
            faulty.set(.init(.error(Errno.notSupported.rawValue), on: .open, .once(1)))
            let unlinked = try faulty.openTemporary(in: directory)
            #expect(faulty.faults == 1)
            #expect(try names(directory) == [])
            system.close(nameless)
            system.close(unlinked)
        }
    }

    @Test(arguments: [Errno.isDirectory, .noSuchFileOrDirectory])
    func kernelsWithoutNamelessFilesAreServedToo(_ errno: Errno) throws {
        let faulty = FaultyFileSystem()
        faulty.set(.init(.error(errno.rawValue), on: .open, .once(1)))
        #expect(throws: Never.self) { faulty.close(try faulty.openTemporary(in: "/var/tmp")) }
    }

    @Test func aFileWhoseNameCannotBeRemovedIsNotUsed() throws {
        let disk = InMemoryFileSystem()
        disk.setSupportsNameless(false)
        let faulty = FaultyFileSystem(wrapping: disk)
        faulty.set(.init(.error(Errno.ioError.rawValue), on: .unlink))
        #expect(throws: Errno.ioError) { try faulty.openTemporary(in: "/var/tmp") }
        #expect(disk.openFiles == 0)
    }

    @Test func takenNamesAreTriedAgainButNotForEver() throws {
        let disk = InMemoryFileSystem()
        disk.setSupportsNameless(false)
        let faulty = FaultyFileSystem(wrapping: disk)
        faulty.set(.init(.error(Errno.fileExists.rawValue), on: .open, .from(2)))
        #expect(throws: Errno.fileExists) { try faulty.openTemporary(in: "/var/tmp") }
        #expect(faulty.calls(.open) == 17)
    }

    @Test func exclusiveFilesArePrivateAndNeverFollowALink() throws {
        try withDirectory { directory in
            let path = "\(directory)/file"
            let descriptor = try system.openExclusive(path)
            defer { system.close(descriptor) }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(throws: Errno.fileExists) { try system.openExclusive(path) }
            try FileManager.default.createSymbolicLink(atPath: "\(directory)/link", withDestinationPath: "target")
            #expect(throws: Errno.fileExists) { try system.openExclusive("\(directory)/link") }
            #expect(try names(directory).sorted() == ["file", "link"])
        }
    }

    @Test func theSystemsErrorsComeThroughUnchanged() {
        #expect(throws: Errno.noSuchFileOrDirectory) { try system.openTemporary(in: "/nonexistent") }
        #expect(throws: Errno.noSuchFileOrDirectory) { try system.directoryFacts("/nonexistent") }
        #expect(throws: Errno.badFileDescriptor) { try system.truncate(-1, to: 0) }
        #expect(throws: Errno.badFileDescriptor) { try system.usage(-1) }
        #expect(throws: Errno.badFileDescriptor) { try system.freeSpace(-1) }
    }

    /// Whoever can make a name can make it lead anywhere.
    @Test func aLinkSaysWhoMadeIt() throws {
        try withDirectory { directory in
            let link = "\(directory)/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/var/tmp")
            #expect(try system.directoryFacts(link).linkOwner == geteuid())
            #expect(try system.directoryFacts(directory).linkOwner == nil)
            guard geteuid() == 0 else { return }  // only root can give a link away
            #expect(unsafe lchown(link, 12_345, 12_345) == 0)
            let facts = try system.directoryFacts(link)
            #expect(facts.linkOwner == 12_345 && facts.isDirectory && facts.owner == 0)
            #expect(facts.objection(user: 0) == "is a symbolic link of another user (12345)")
        }
    }

    @Test func procIsRecognisedByItsMagicNumberAndHasNoDevice() throws {
        let facts = try system.directoryFacts("/proc")
        #expect(facts.isDirectory)
        #expect(facts.magic == 0x9FA0)
        #expect(facts.device == nil)
        #expect(facts.owner == 0)
        #expect(try !system.directoryFacts("/proc/self/status").isDirectory)
    }

    @Test func theFileSizeLimitIsAtLeastTheSizeOfWhatWeWrite() {
        #expect(system.maximumFileSize > 1 << 20)
    }

    /// The disk in memory and the kernel's answer alike, or tests against the first prove nothing about the second.
    @Test(arguments: UInt64(1)...5) func theDiskInMemoryBehavesLikeTheKernels(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let memory = InMemoryFileSystem()
        let systems: [any FileSystem] = [system, memory]
        let files = try systems.map { try $0.openTemporary(in: "/var/tmp") }
        defer { for (system, file) in zip(systems, files) { system.close(file) } }
        for step in 0..<200 {
            let offset = Int64.random(in: 0..<200_000, using: &random)
            let count = Int.random(in: 0..<60_000, using: &random)
            let split = Int.random(in: 0...count, using: &random)
            let bytes = Content.noise.bytes(count, seed: UInt64(step))
            let action = Int.random(in: 0..<6, using: &random)
            var seen: [[Int]] = []
            for (system, file) in zip(systems, files) {
                var buffer = [UInt8](repeating: 0, count: count)
                var result: [Int] = []
                switch action {
                case 0, 1:
                    // The array's bytes, cut in two inside them, are only used for the length of the call.
                    let written = try unsafe bytes.withUnsafeBytes { all in
                        try unsafe system.write(
                            file,
                            at: offset,
                            from: UnsafeRawBufferPointer(rebasing: all[..<split]),
                            UnsafeRawBufferPointer(rebasing: all[split...])
                        )
                    }
                    result = [written]
                case 2, 3:
                    let found = try unsafe buffer.withUnsafeMutableBytes { all in
                        try unsafe system.read(
                            file,
                            at: offset,
                            into: UnsafeMutableRawBufferPointer(rebasing: all[..<split]),
                            UnsafeMutableRawBufferPointer(rebasing: all[split...])
                        )
                    }
                    result = [found, buffer.hashValue]
                case 4: try system.punchHole(file, at: offset, count: Int64(count + 1))
                default: try system.truncate(file, to: offset)
                }
                result.append(Int(try system.usage(file).size))
                seen.append(result)
            }
            try #require(seen[0] == seen[1], "seed \(seed) step \(step) action \(action)")
        }
    }
}
#endif
