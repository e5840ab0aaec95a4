import CLinuxShims
import Dispatch
import Foundation
import Glibc
import PressureKit

/// A process that the tool starts from itself ends when its parent does, however that ends: `SIGKILL` leaves a parent no time
/// to end its children.
///
/// The kernel says by a signal when the thread ends that started us (`PR_SET_PDEATHSIG`), which may be long before its
/// process does. So it is the parent's number that decides.
enum ParentProcess {
    /// Holds the number of the process to follow, and a cgroup of ours whose other processes are to end as well.
    private static let variable = "PRESSURESIM_PARENT"

    /// What a child is started with that is to end with this process.
    ///
    /// - Parameter group: whose processes the child then ends.
    static func environment(with group: MemoryGroup? = nil) -> [String: String] {
        let company = group.map { " \($0.directory)" } ?? ""
        return ProcessInfo.processInfo.environment.merging([variable: "\(getpid())\(company)"]) { _, own in own }
    }

    /// Kept so that it goes on.
    private static let source = Lock<SignalSource?>(nil)

    private final class SignalSource: @unchecked Sendable {
        // Sendable: made once, and then only kept.
        let source: any DispatchSourceSignal

        init(_ source: any DispatchSourceSignal) { self.source = source }
    }

    /// Ends this process with its parent, if that wants it so. To be called first of all: the environment is changed, so
    /// that nobody else takes the number for his.
    static func follow() {
        let words = (ProcessInfo.processInfo.environment[variable] ?? "").split(separator: " ", maxSplits: 1)
        guard let parent = words.first.flatMap({ Int32($0) }) else { return }
        let company = words.dropFirst().first.map { MemoryGroup(directory: String($0), version: .v1) }
        // Nobody else reads the environment yet; the string outlives the call.
        unsafe unsetenv(variable)
        signal(SIGUSR1, SIG_IGN)
        let registered = DispatchSemaphore(value: 0)
        let made = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: DispatchQueue(label: "parent"))
        made.setEventHandler { endUnlessThere(parent, company) }
        made.setRegistrationHandler { registered.signal() }
        made.activate()
        registered.wait()
        let kept = SignalSource(made)
        source.withLock { $0 = kept }
        pk_signal_when_parent_ends(SIGUSR1)
        // It may have ended before the kernel was asked.
        endUnlessThere(parent, company)
    }

    private static func endUnlessThere(_ parent: Int32, _ company: MemoryGroup?) {
        guard getppid() != parent else { return }
        for process in company?.processes ?? [] where process != getpid() { kill(process, SIGKILL) }
        // Nobody wants to know any more.
        _exit(ExitStatus.environmentRefused.rawValue)
    }
}

extension Process {
    /// The tool once more, as a child that ends with this process, and ends then all that is in a cgroup of ours.
    static func ofTool(_ arguments: [String], at tool: URL = ownTool, with group: MemoryGroup? = nil) -> Process {
        let process = Process()
        process.executableURL = tool
        process.arguments = arguments
        process.environment = ParentProcess.environment(with: group)
        return process
    }

    /// The program that this process runs.
    static var ownTool: URL { URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath() }
}
