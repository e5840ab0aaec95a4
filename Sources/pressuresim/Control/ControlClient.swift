import CLinuxShims
import Foundation
import Glibc
import PressureKit

/// A connection to a control socket. It blocks: not for cooperative threads.
final class ControlClient {
    private let descriptor: Int32
    private let target: ControlTarget
    private var rest = Data()

    /// Connects to the first socket that answers.
    ///
    /// - Throws: ``ControlFailure`` that says how to have one.
    init(_ target: ControlTarget, processes: String = "/proc") throws(ControlFailure) {
        self.target = target
        var refusals: [Int32] = []
        for path in try target.paths(processes: processes) {
            let descriptor = unsafe pk_connect_unix(path)
            if descriptor >= 0 {
                self.descriptor = descriptor
                return
            }
            refusals.append(errno)
        }
        throw Self.unreachable(target, refusals)
    }

    deinit { close(descriptor) }

    /// Sends a command and waits for its answer.
    ///
    /// - Throws: ``ControlFailure`` when the process refuses, ends, or takes longer than `limit`.
    func ask(_ command: String, within limit: Duration) throws(ControlFailure) -> Data {
        let line = Data("\(command)\n".utf8)
        // The bytes are the data's own for the length of the call.
        let sent = unsafe line.withUnsafeBytes { unsafe pk_send_bytes(descriptor, $0.baseAddress, $0.count) }
        let end = ContinuousClock.now + limit
        // It may have sent a word of refusal before it hung up.
        guard sent == line.count || errno == EPIPE else { throw hungUp }
        while true {
            if let index = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let answer = Data(rest[..<index])
                rest = Data(rest[rest.index(after: index)...])
                return answer
            }
            guard rest.count <= 2 * ControlAnswer.mostBytes else { throw stranger }
            try wait(until: end, limit)
            try read()
        }
    }

    private func wait(until end: ContinuousClock.Instant, _ limit: Duration) throws(ControlFailure) {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let left = end - .now
            guard left > .zero else {
                throw ControlFailure(
                    "\(target.name) has not answered within \(limit). It may still do what it was asked; wait longer with --timeout."
                )
            }
            let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
            // One structure of ours, which outlives the call.
            let count = unsafe poll(&watched, 1, Int32(clamping: milliseconds + 1))
            if count > 0 || (count < 0 && errno != EINTR) { return }
        }
    }

    private func read() throws(ControlFailure) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        // The kernel writes at most `count` bytes from the start.
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
            rest.append(contentsOf: buffer[..<count])
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            throw hungUp
        }
    }

    private var hungUp: ControlFailure {
        ControlFailure("\(target.name) has hung up: it ends, stops watching memory, or has too many callers.")
    }

    private var stranger: ControlFailure {
        ControlFailure("What answers at \(target.name) is no control socket of PressureKit's.")
    }

    /// The most telling of the reasons.
    private static func unreachable(_ target: ControlTarget, _ reasons: [Int32]) -> ControlFailure {
        if reasons.contains(EACCES) || reasons.contains(EPERM) {
            return ControlFailure(
                "The control socket of \(target.name) is another user's. Run this as that user, or as root."
            )
        }
        if reasons.contains(EAGAIN) {
            return ControlFailure("\(target.name) listens and accepts nobody: too many wait already. Try again.")
        }
        if case .path = target, reasons.contains(ENAMETOOLONG) {
            return ControlFailure(
                "\(target.name) is longer than the \(pk_longest_socket_path()) bytes a socket's path may have."
            )
        }
        if case .path = target, reasons.contains(EPROTOTYPE) || reasons.contains(ENOTDIR) {
            return ControlFailure("\(target.name) is no control socket.")
        }
        let way =
            switch target {
            case .process:
                "Start it with PRESSUREKIT_CONTROL=1 in its environment, or set PressureConfiguration.control; it listens while PressureManager.run() runs. If it listens at a path of its own, name that path."
            case .path:
                "Start the process with PRESSUREKIT_CONTROL=\(target.name) in its environment; it listens while PressureManager.run() runs."
            }
        return ControlFailure("Nothing listens for \(target.name). \(way)")
    }
}
