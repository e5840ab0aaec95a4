#if Redis
package import PressureSystem
import SystemPackage

/// One saved state on a server, as one manager has it: it locks the state while it saves or restores it, and as long as
/// values that it restored have their copies there.
///
/// The lock has a lease, which a thread renews; a manager whose process ends without a word has it no longer than that. A
/// state that was saved and that nobody has lives for the time that it was given. Every call blocks on the network, no
/// longer than deadlines allow, and allocates.
package final class RedisState: Sendable {
    package let keys: RedisStateKeys
    let options: RedisSpaceOptions
    let owner: RedisStateOwner
    let pool: RedisPool
    let life = ConditionLock(Life())
    /// Held while the lock on the server is taken or let go.
    let locking = Lock(())
    var process: ProcessMark { pool.process }

    /// Names a state, and asks nothing of the server yet.
    ///
    /// - Parameter owner: the manager's.
    package init(_ name: String, _ options: RedisSpaceOptions, owner: RedisStateOwner) {
        keys = RedisStateKeys(prefix: options.keyPrefix, name: name)
        self.options = options
        self.owner = owner
        // The thread that renews waits for nobody who saves.
        var server = options.server
        server.connections = max(2, server.connections)
        pool = RedisPool(server, for: name, clock: SystemClock())
    }

    /// What messages call the server.
    package var server: String { "Redis at \(options.server.name)" }

    /// What messages call the state.
    package var place: String { "\"\(keys.name)\" on \(server)" }

    /// The lease in the protocol's words: milliseconds.
    var lease: String { "\(options.lease.nanoseconds / 1_000_000)" }

    // MARK: Work

    /// Takes the state, for a save or restore; ``end()`` lets it go.
    ///
    /// - Throws: ``PressureError`` with `stateDirectoryInUse` that says who has it; `serverUnusable` when the server cannot
    ///   be reached, or may evict what it is given; `threadUnavailable`.
    package func begin() throws(PressureError) {
        let isFirst = life.withLock { life in
            life.work += 1
            defer { life.hasThread = true }
            return !life.hasThread
        }
        do throws(PressureError) {
            if isFirst { try startThread() }
            try take()
        } catch {
            end()
            throw error
        }
    }

    /// Ends what ``begin()`` began, and waits until others can have the state, if nothing of it is in use here.
    package func end() {
        life.withLock { $0.work -= 1 }
        _ = life.wait(atMost: options.server.connectTimeout + options.server.commandTimeout) { life in
            life.wantsLock || !life.isLocked ? () : nil
        }
    }

    /// Makes sure that the lock is still ours.
    ///
    /// - Throws: ``PressureError`` with `stateDirectoryInUse`, `serverUnusable`.
    package func confirm() throws(PressureError) {
        let isOurs: Bool
        do throws(RedisFailure) {
            isOurs = try isRenewed()
        } catch {
            throw failed(error)
        }
        if !isOurs { throw .stateLost(place) }
    }

    func failed(_ failure: RedisFailure) -> PressureError { .stateServerUnusable(server, errno: failure.errno) }
}
#endif
