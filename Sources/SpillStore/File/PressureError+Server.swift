import Glibc
package import PressureSystem
package import SystemPackage

/// What failures mean where the bytes are on a server: which one, and what to do there.
extension PressureError {
    /// The server cannot be spilled to.
    package static func serverUnusable(_ server: String, errno: Errno) -> PressureError {
        let (what, remedy) = errno.ofServer
        return PressureError(
            code: .serverUnusable,
            message: "\(server) \(what), so nothing can be spilled there. \(remedy)",
            errno: errno.rawValue
        )
    }
}

extension SpillFailure {
    /// The failure in words, with its remedy; `nil` where the server has no part in it.
    func message(of server: String, _ isReloadable: Bool) -> String? {
        switch self {
        case .limitReached, .parentsFile, .notCompressible, .valueNotPassed, .abandoned: nil
        case .floorReached, .writebackFailed: nil
        case .writeFailed(let errno):
            "\(server) \(errno.ofServer.what): the value is still in memory. \(errno.ofServer.remedy)"
        case .mayBeEvicted:
            """
            \(server) may evict what it has, or does not tell whether: a value that nobody can make again stays in memory. \
            Set its maxmemory-policy to noeviction, permit this user INFO or CONFIG GET, or give the cache a loader.
            """
        case .notWritten:
            "What \(server) has is not what was written there. The value is still in memory; look at the server."
        case .readFailed(let errno):
            """
            \(server) \(errno.ofServer.what): a spilled copy could not be read; \
            \(isReloadable ? Self.isMade : "it is kept.") \(errno.ofServer.remedy)
            """
        case .damaged(let damage):
            """
            \(server) does not have a spilled copy as it was written (\(damage)): it was restarted or emptied, or could not \
            be reached for longer than the lease; \(isReloadable ? Self.isMade : "set the value again.")
            """
        }
    }
}

/// What an encrypted connection comes to nothing for, as the system's errors that are nearest.
extension Errno {
    /// The server's certificate leads to none that is trusted.
    static let certificateUntrusted = Errno(rawValue: EKEYREJECTED)
    /// It is not valid yet, or no longer.
    static let certificateOutdated = Errno(rawValue: EKEYEXPIRED)
    /// It was made for another name.
    static let certificateOfAnother = Errno(rawValue: ENOTUNIQ)
    /// The server wants to see a certificate of ours, or not the one that it has seen.
    static let certificateWanted = Errno(rawValue: ENOKEY)
}

extension Errno {
    /// What a server did that this stands for, after its name, and what to do.
    var ofServer: (what: String, remedy: String) {
        switch self {
        case .timedOut:
            ("did not answer in time", "Look at its load and at the network, or give it longer.")
        case .connectionRefused, .noSuchFileOrDirectory:
            ("is not there (\(self))", "Start it, or correct the address.")
        case .connectionReset, .connectionAbort, .brokenPipe:
            ("closed the connection", "Look at its log: it may be restarting, or take no more clients.")
        case .addressNotAvailable:
            ("has a name that resolves to nothing", "Correct the name, or look at the resolver.")
        case .permissionDenied:
            ("does not let us in", "Correct user and password.")
        case .notPermitted:
            ("does not permit what this needs", "Permit the user's ACL the commands that the documentation lists.")
        case .noSpace:
            ("is full", "Raise its maxmemory, or lower spillLimit.")
        case .readOnlyFileSystem:
            ("is a read-only replica", "Name the address of its primary too, or promote it.")
        case .resourceTemporarilyUnavailable:
            ("is busy: it loads, fails over, moves keys, or has too many clients", "Wait, or look at its log.")
        case .noLink:
            (
                "has too few replicas that took in time what they must have",
                "Look at its replicas, or lower requiredReplicas."
            )
        case .illegalByteSequence:
            (
                "does not have what was written there",
                "Look at its log: it may have been restarted or emptied meanwhile."
            )
        case .certificateUntrusted:
            (
                "shows a certificate that is not trusted",
                "Name the file with its authority in tls.trustRoots, or look who answers at this address."
            )
        case .certificateOutdated:
            (
                "shows a certificate that is not valid yet or no longer",
                "Renew it, or correct the clock of this machine."
            )
        case .certificateOfAnother:
            (
                "shows a certificate for another name",
                "Connect to a name that it has, or set tls.serverName to one."
            )
        case .certificateWanted:
            (
                "wants a certificate of this process, or not the one it was shown",
                "Set tls.certificateChain and tls.privateKey to what its authority has signed."
            )
        case .protocolError:
            (
                "does not speak TLS as it should",
                "Make sure that TLS is spoken at this port, in version 1.2 or later; its log may say more."
            )
        case .invalidArgument:
            (
                "cannot be spoken to, since a file of tls cannot be read",
                "Look at trustRoots, certificateChain and privateKey."
            )
        case .badMessage:
            ("answered what is no answer", "Make sure that Redis or Valkey is at this address, and nothing else.")
        default:
            ("failed (\(self))", "Look at its log.")
        }
    }
}
