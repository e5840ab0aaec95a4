import Logging
import PressureSystem

/// What is logged of the control socket.
extension ManagerLog {
    /// The control socket is open.
    func opened(_ path: String) {
        logger.debug("control socket opened", metadata: ["pressurekit.socket": "\(path)"])
    }

    /// It cannot be had, and the environment had asked for it.
    func unavailable(_ error: PressureError) {
        logger.warning("control socket unavailable", metadata: Self.metadata(of: error))
    }

    /// Somebody outside has something done.
    func commanded(_ command: ControlCommand, by peer: ControlPeer) {
        var metadata = Self.metadata(of: peer)
        metadata["pressurekit.command"] = "\(command.name)"
        logger.notice("control command", metadata: metadata)
    }

    /// What the control socket has to say.
    func remarked(_ remark: ControlServer.Remark) {
        switch remark {
        case .denied(let peer): warn("control caller refused", \.callers, Self.metadata(of: peer))
        case .deaf: logger.warning("control socket is deaf")
        }
    }

    private static func metadata(of peer: ControlPeer) -> Logger.Metadata {
        ["pressurekit.peer_pid": "\(peer.process)", "pressurekit.peer_uid": "\(peer.user)"]
    }
}
