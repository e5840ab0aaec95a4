import Foundation
import Glibc

/// Which process made a directory or a cgroup that is there for a while. Its name says so: a later run can remove what one
/// that was killed has left, and nothing of one that lives.
struct Maker: Hashable, Sendable {
    /// What all such names begin with.
    static let prefix = "pressuresim-"

    /// This process.
    static let own = Maker(
        process: getpid(),
        start: ProcessState("self")?.start ?? 0,
        // A link such as pid:[4026531836].
        namespace: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid"))
            .flatMap { UInt64($0.filter(\.isNumber)) } ?? 0
    )

    /// Its number.
    var process: Int32
    /// When it began, in ticks since the machine did: numbers are used again.
    var start: UInt64
    /// Its namespace of processes: in another one the number is somebody else's, or nobody's.
    var namespace: UInt64

    /// What such a name begins with: `pressuresim-4711.8123456.4026531836-`.
    var prefix: String { "\(Self.prefix)\(process).\(start).\(namespace)-" }

    init(process: Int32, start: UInt64, namespace: UInt64) {
        (self.process, self.start, self.namespace) = (process, start, namespace)
    }

    /// Who made what has this name; `nil` if the name does not say.
    init?(of name: String) {
        guard name.hasPrefix(Self.prefix), let end = name.lastIndex(of: "-") else { return nil }
        let numbers = name[..<end].dropFirst(Self.prefix.count).split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 3, let process = Int32(numbers[0]), process > 0, let start = UInt64(numbers[1]),
            let namespace = UInt64(numbers[2])
        else { return nil }
        self.init(process: process, start: start, namespace: namespace)
    }

    /// Whether it has ended. Not when that cannot be told.
    var isGone: Bool {
        guard namespace == Self.own.namespace, Self.own.start != 0 else { return false }
        guard let state = ProcessState("\(process)") else { return kill(process, 0) != 0 && errno == ESRCH }
        return state.start != start || state.hasEnded
    }
}

/// What `/proc` says of a process's life (proc_pid_stat(5)).
struct ProcessState: Hashable, Sendable {
    /// When it began, in ticks since the machine did.
    var start: UInt64
    /// Whether it has ended, and its parent has not asked how.
    var hasEnded: Bool

    /// - Parameter process: its number, or `self`. `nil` when there is none, or it may not be looked at.
    init?(_ process: String) {
        guard let text = KernelText.read("/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        // The third field and those after it; the second one, the program's name, may have spaces in it.
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 19, let start = UInt64(fields[19]) else { return nil }
        self.start = start
        hasEnded = fields[0] == "Z" || fields[0] == "X"
    }
}
