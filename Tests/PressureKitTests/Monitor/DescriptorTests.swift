#if !THREAD_SANITIZER  // Makes or weighs processes.
import CTestShims
import Foundation
import Glibc
import Testing

@testable import PressureKit

/// Pitfall 27: descriptors are not inherited by programs, not leaked, and a child of fork(2) has its own.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DescriptorTests {
    /// The descriptors of this process, and what each refers to.
    private static func open() -> [String: String] {
        let directory = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.reduce(into: [:]) { targets, name in
            targets[name] = try? FileManager.default.destinationOfSymbolicLink(atPath: directory + "/" + name)
        }
    }

    /// Those of the kernel's signals and of event loops.
    private static func ours(_ targets: [String: String]) -> [String] {
        targets.values.filter { target in
            ["pressure", "meminfo", "/cgroup", "anon_inode:[event"].contains { target.contains($0) }
        }
    }

    /// In a process of its own, where no other test opens anything.
    @Test func aMonitorThatIsReleasedLeavesNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            let before = DescriptorTests.ours(DescriptorTests.open()).count
            for _ in 0..<3 {
                let monitor = try PressureMonitor(sources: try PressureSource.automatic.open()) { _ in }
                try monitor.start()
                monitor.tick()
                monitor.stop()
                monitor.tick()
                try monitor.start()
                monitor.stop()
            }
            // The threads let go of their loops when they end.
            for _ in 0..<2_000 where DescriptorTests.ours(DescriptorTests.open()).count > before { usleep(5_000) }
            let left = DescriptorTests.ours(DescriptorTests.open())
            if left.count > before { FileHandle.standardError.write(Data("left: \(left)\n".utf8)) }
            exit(left.count <= before ? 0 : 1)
        }
    }

    @Test func everyDescriptorIsClosedWhenAProgramIsExecuted() async {
        await #expect(processExitsWith: .success) {
            let monitor = try PressureMonitor(sources: try PressureSource.automatic.open()) { _ in }
            try monitor.start()
            monitor.tick()
            let targets = DescriptorTests.open()
            guard !DescriptorTests.ours(targets).isEmpty else { exit(2) }
            for (name, target) in targets {
                guard let descriptor = CInt(name) else { continue }
                if !DescriptorTests.ours([name: target]).isEmpty, fcntl(descriptor, F_GETFD) & FD_CLOEXEC == 0 {
                    exit(1)
                }
            }
            monitor.stop()
            exit(0)
        }
    }

    /// The parent's thread is not there, and its epoll set is shared: the child makes its own of both.
    @Test func aChildOfForkWatchesWithItsOwnDescriptors() async {
        await #expect(processExitsWith: .success) {
            let source = SimulatedSource()
            let heard = try EventLoop()
            let sampled = try EventLoop()
            let monitor = try PressureMonitor(
                sources: try PressureSource.automatic.open() + [source],
                sampled: { sampled.wake() }
            ) { decision in
                if decision.level == .warning { heard.wake() }
            }
            try monitor.start()
            // Between two samples: a lock that the thread held now would be held for ever in the child.
            _ = sampled.wait(upTo: .seconds(30))
            let child = pk_fork()
            if child == 0 {
                alarm(60)  // ends the child if it hangs, and by a signal, which is no success
                // On a thread of its own: Swift's Mutex keeps a thread's number, and this one's is another now.
                try? WorkerThread.spawn("child") {
                    guard (try? monitor.start()) != nil else { _exit(2) }
                    source.set(.warning)
                    while monitor.level < .warning { usleep(1_000) }
                    monitor.stop()
                    _exit(0)
                }
                while true { pause() }
            }
            var status: CInt = 0
            guard child > 0, unsafe waitpid(child, &status, 0) == child else { exit(1) }
            guard status == 0 else { exit(status & 0x7F == 0 ? 10 + status >> 8 : 100 + status & 0x7F) }
            // The parent's own loop still works.
            source.set(.warning)
            while !heard.wait(upTo: .seconds(1)) || monitor.level < .warning {}
            exit(0)
        }
    }
}
#endif
