#if Redis
import PressureSystem
import SpillStore
import Synchronization
import SystemPackage

/// A saved state on a server, held for one save or restore; what was restored holds it on.
final class RemoteStatePlace: StatePlace {
    private let state: RedisState
    /// How long it stays.
    private let lifetime: Duration
    /// What kept the server from saying whether the new state is in place.
    private let doubt = Lock<PressureError?>(nil)

    var path: String { state.place }

    /// The server may have lost it.
    var whatWas: String { "What was saved before was not touched." }

    /// - Throws: as ``RedisState/begin()``.
    init(_ state: RedisState, lifetime: Duration) throws(PressureError) {
        self.state = state
        self.lifetime = lifetime
        try state.begin()
    }

    func leave() { state.end() }

    func confirm() throws(PressureError) { try state.confirm() }

    func openNew() throws -> StateFile { StateFile(fileSystem: try state.openNew(), descriptor: 0) }

    func replace(with new: StateFile) throws {
        switch try state.replace(with: writer(new), lifetime: lifetime) {
        case .done: break
        case .unknown(let error): doubt.withLock { $0 = error }
        }
    }

    func settle() throws(PressureError) {
        if let error = doubt.withLock({ $0 }) { throw .stateInDoubt(path, cause: error) }
    }

    func discard(_ new: StateFile) { state.discard(writer(new)) }

    func open() throws -> StateFile? {
        try state.open().map { StateFile(fileSystem: $0, descriptor: 0) }
    }

    private func writer(_ file: StateFile) -> RedisStateWriter {
        guard let writer = file.fileSystem as? RedisStateWriter else { preconditionFailure("It is from openNew().") }
        return writer
    }

    func failure(_ failure: SpillFailure) -> PressureError {
        switch failure {
        case .writeFailed(let errno), .readFailed(let errno): .stateServerUnusable(state.server, errno: errno)
        default: failure.pressureError(server: state.server)
        }
    }

    func unreadable(_ cause: any Error) -> PressureError {
        if let error = cause as? PressureError { return error }
        return .stateServerUnusable(state.server, errno: cause as? Errno ?? .ioError)
    }

    func visit(_ file: StateFile, _ limits: SpillLimits) -> CacheVisit { CacheVisit() }
}

/// The states on servers that a manager has to do with.
final class RemoteStates: Sendable {
    private struct Known {
        weak var state: RedisState?
        let endpoints: [RedisServer.Endpoint]
    }

    private let owner = RedisStateOwner()
    private let known = Lock<[Known]>([])

    /// A state by its name: the one that is held already, if it is.
    func state(_ name: String, _ options: RedisSpaceOptions) -> RedisState {
        let keys = RedisStateKeys(prefix: options.keyPrefix, name: name)
        return known.withLock { known in
            known.removeAll { $0.state == nil }
            for one in known where one.endpoints == options.server.endpoints {
                if let state = one.state, state.keys == keys { return state }
            }
            let state = RedisState(name, options, owner: owner)
            known.append(Known(state: state, endpoints: options.server.endpoints))
            return state
        }
    }
}

extension PressureError {
    fileprivate static func stateInDoubt(_ path: String, cause: PressureError) -> PressureError {
        PressureError(
            code: .stateNotSaved,
            message: """
                It is not known whether the state \(path) is the new one or what was saved before: one of them is there, \
                whole. \(cause.message) Then save again.
                """,
            cause: cause
        )
    }
}
#endif
