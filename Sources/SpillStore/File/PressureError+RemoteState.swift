package import PressureSystem
package import SystemPackage

/// What keeps a state from being saved to or restored from a server.
extension PressureError {
    /// The server cannot be asked.
    package static func stateServerUnusable(_ server: String, errno: Errno) -> PressureError {
        let (what, remedy) = errno.ofServer
        return PressureError(
            code: .serverUnusable,
            message: "\(server) \(what), so no state can be saved there or restored from there. \(remedy)",
            errno: errno.rawValue
        )
    }

    /// The server may give up what it is given.
    package static func stateMayBeEvicted(_ server: String) -> PressureError {
        PressureError(
            code: .serverUnusable,
            message: """
                \(server) may evict what it has, or does not tell whether: no state is saved there or restored from there. \
                Set its maxmemory-policy to noeviction, or permit this user INFO or CONFIG GET.
                """
        )
    }

    /// Somebody else has the state.
    package static func stateHeld(_ place: String, by owner: String, milliseconds: Int) -> PressureError {
        let time =
            milliseconds < 0
            ? "for ever" : "for \((milliseconds + 999) / 1000) s more, unless it renews that"
        return PressureError(
            code: .stateDirectoryInUse,
            message: """
                The state \(place) is held by \(owner), which saves or restores it or reads restored values there, \
                \(time). Wait until that has ended, or give each instance of the app a state of its own.
                """
        )
    }

    /// The lock is not ours any more.
    package static func stateLost(_ place: String) -> PressureError {
        PressureError(
            code: .stateDirectoryInUse,
            message: """
                The state \(place) was held by this process and is not any more: the server could not be reached for \
                longer than the lease, or was emptied. Try again, or give it a longer lease.
                """
        )
    }
}
