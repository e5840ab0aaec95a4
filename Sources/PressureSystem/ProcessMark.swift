import CLinuxShims

/// Which process made something, so that a child of fork(2) can tell that it was not itself.
///
/// Not by the process's number: a child that is 1 in its own namespace of processes has the number of a parent that is 1
/// in its own. The kernel wipes a page of ours in each child instead (`MADV_WIPEONFORK`, Linux 4.14), however the child
/// was made; where it cannot, a handler of `pthread_atfork(3)` does.
package struct ProcessMark: Hashable, Sendable {
    private let generation = pk_process_generation()

    /// Marks something as this process's.
    package init() {}

    /// Whether the calling process is the one that made the mark. No system call; allocates nothing.
    package var isThisProcess: Bool { pk_process_generation() == generation }
}
