import PressureKit
import Synchronization

/// Threads that do nothing but take processor time, outside of every cgroup that is measured.
final class WorthHogs: Sendable {
    private let isOver = Atomic<Bool>(false)

    /// Starts them.
    ///
    /// - Throws: when the system gives no thread.
    init(count: Int) throws {
        for index in 0..<count {
            try WorkerThread.spawn("hog-\(index)") { [self] in
                while !isOver.load(ordering: .relaxed) {}
            }
        }
    }

    /// Ends them. Does not wait for that.
    func end() { isOver.store(true, ordering: .relaxed) }
}
