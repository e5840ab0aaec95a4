import CTestShims
import Foundation
import Glibc
import PressureKitTestSupport
import Testing

@testable import PressureKit
@testable import SpillStore

/// A child of fork(2) knows what is its parent's.
@Suite(.timeLimit(.minutes(2))) struct ProcessMarkTests {
    /// Ends the calling process as `body` says, in a child of fork(2); returns what it said.
    static func inChild(_ body: () -> CInt) -> CInt {
        let child = pk_fork()
        if child == 0 { _exit(body()) }
        var status: CInt = 0
        // The status is this function's own.
        unsafe waitpid(child, &status, 0)
        // What a child that exits says is in the second byte.
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
    }

    @Test func aChildIsNotTheProcessThatMadeTheMark() async {
        await #expect(processExitsWith: .success) {
            let mine = ProcessMark()
            require(mine.isThisProcess, "a process does not know itself")
            let found = ProcessMarkTests.inChild {
                let own = ProcessMark()
                guard !mine.isThisProcess, own.isThisProcess, own != mine else { return 1 }
                // Nor is a grandchild either of them.
                return ProcessMarkTests.inChild { mine.isThisProcess || own.isThisProcess ? 2 : 0 }
            }
            require(found == 0, "the child said \(found)")
            require(mine.isThisProcess, "it has forgotten itself")
            exit(0)
        }
    }

    /// Both are 1, each in its own namespace of processes. Only root may make one.
    @Test(.enabled(if: geteuid() == 0)) func aChildWithTheSameNumberIsNotThatProcessEither() async {
        await #expect(processExitsWith: .success) {
            let found = ProcessMarkTests.inChild {
                guard pk_unshare_processes() == 0 else { return errno == EPERM ? 0 : 1 }
                return ProcessMarkTests.inChild {
                    guard getpid() == 1,
                        let directory = try? SpillDirectory.choose(
                            option: "/var/tmp",
                            environment: [:],
                            fileSystem: LinuxFileSystem(),
                            allowsRAM: true
                        ), let file = try? SegmentFile(directory: directory, fileSystem: LinuxFileSystem())
                    else { return 2 }
                    guard file.isOurs, pk_unshare_processes() == 0 else { return 3 }
                    return ProcessMarkTests.inChild { getpid() != 1 ? 4 : file.isOurs ? 5 : 0 }
                }
            }
            require(found == 0, "the child said \(found)")
            exit(0)
        }
    }
}
