import Glibc
import PressureSystem

/// What the control socket asks of the manager.
extension PressureManager {
    /// Opens the control socket, if there is to be one. Blocks briefly on the file system.
    ///
    /// - Throws: ``PressureError`` with `controlUnavailable` when the configuration asks for it and it cannot be had.
    func openControl() throws(PressureError) {
        // The environment of a program that is set-user-ID is its caller's, who must not choose what it makes.
        if controlSocket == .environment, getuid() != geteuid() || getgid() != getegid() { return }
        guard let place = controlSocket.place(environment: environment) else { return }
        do throws(PressureError) {
            let path = try control.open(place)
            context.log.opened(path)
        } catch {
            guard controlSocket == .environment else { throw error }
            context.log.unavailable(error)
        }
    }

    /// Begins to carry a command out. Does not block.
    ///
    /// - Parameters:
    ///   - peer: who asks.
    ///   - answer: told once, on whatever thread it was done.
    func carryOut(
        _ command: ControlCommand,
        for peer: ControlPeer,
        answer: @escaping @Sendable (ControlAnswer) -> Void
    ) {
        if command != .status { context.log.commanded(command, by: peer) }
        switch command {
        case .status:
            // It goes through all values, and there may be millions.
            BlockingPool.errands.submit { [self] in answer(.status(controlStatus)) }
        case .foreground:
            Task { [self] in answer(.restored(await enterForeground(), by: command)) }
        case .warn(let level, let bytes):
            submit(warning(level, freeing: bytes, source: "control socket"), command, answer)
        case .evict(let bytes):
            submit(request(bytes, source: "control socket"), command, answer)
        case .background:
            submit(backgroundRequest(source: "control socket"), command, answer)
        }
    }

    private func submit(
        _ request: ReclaimRequest,
        _ command: ControlCommand,
        _ answer: @escaping @Sendable (ControlAnswer) -> Void
    ) {
        var request = request
        context.listener.hurry(for: request.cause.levelAfter)
        request.reply = { report in
            if let report { answer(.reclaimed(report, by: command)) }
        }
        reclaim.request(request)
    }

    private var controlStatus: ControlStatus {
        ControlStatus(
            process: Int(getpid()),
            snapshot: snapshot(),
            cause: context.lastCause,
            isInBackground: isInBackground
        )
    }
}
