import CTestShims
import Glibc
import Testing

@testable import PressureKit

@Suite struct ThreadNumberTests {
    /// A child's only thread has the number of its process, and its parent's thread has asked for its own before.
    @Test func aChildOfForkAsksForItsOwn() {
        let own = UInt32.currentThread
        #expect(own != 0 && own == .currentThread)
        let child = pk_fork()
        if child == 0 { _exit(UInt32.currentThread == UInt32(bitPattern: getpid()) ? 0 : 1) }
        var status: CInt = -1
        let ended = unsafe waitpid(child, &status, 0)
        #expect(child > 0 && ended == child)
        #expect(status == 0)
        #expect(own == .currentThread)
    }
}
