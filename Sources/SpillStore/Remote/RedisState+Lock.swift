#if Redis
import PressureSystem
import Synchronization
import SystemPackage

/// The lock: a key that says who has the state. Whatever changes the state does so in a transaction that is carried out only
/// while the lock is ours, so that whoever was not heard for longer than the lease harms nobody.
extension RedisState {
    private enum Taking {
        case taken, mayEvict
        case refused(by: String, milliseconds: Int)
    }

    /// Takes the lock, unless we have it.
    func take() throws(PressureError) {
        try locking.withLock { _ throws(PressureError) in
            let taking: Taking
            do throws(RedisFailure) {
                taking = try pool.withConnectionRepeatably { connection throws(RedisFailure) in
                    guard try pool.askPolicy(connection) == .keepsEverything else { return .mayEvict }
                    return try take(on: connection)
                }
            } catch {
                throw failed(error)
            }
            switch taking {
            case .taken: life.withLock { $0.isLocked = true }
            case .mayEvict: throw .stateMayBeEvicted(server)
            case .refused(let owner, let milliseconds):
                throw .stateHeld(place, by: RedisStateOwner.name(owner), milliseconds: milliseconds)
            }
        }
    }

    private func take(on connection: RedisConnection) throws(RedisFailure) -> Taking {
        // As often as it ends just when it is asked for.
        for _ in 0..<16 {
            let answer = try connection.ask(["SET", keys.lock, owner.text, "NX", "PX", lease])
            if answer.text == "OK" { return .taken }
            guard answer.isNothing else { throw .nonsense }
            let found = try connection.ask(["GET", keys.lock])
            guard let text = found.text else {
                // It has just ended.
                if found.isNothing { continue }
                throw .nonsense
            }
            if text == owner.text {
                // We have it, or had asked for it and heard nothing. That it is renewed also ends a transaction of ours that
                // may still be on its way.
                if try connection.ask(["PEXPIRE", keys.lock, lease]).integer == 1 { return .taken }
                continue
            }
            guard let left = try connection.ask(["PTTL", keys.lock]).integer else { throw .nonsense }
            return .refused(by: text, milliseconds: left)
        }
        throw .nonsense
    }

    /// Carries some requests out together, each answered with a number, if the lock is ours and stays ours until then.
    ///
    /// - Returns: the numbers; `nil` when the lock is not ours, and nothing was done.
    func whileLocked(
        _ append: (RedisConnection) throws(RedisFailure) -> Void
    ) throws(RedisFailure) -> [Int]? {
        try pool.withConnection { connection throws(RedisFailure) in
            // That the lock was renewed meanwhile is a reason to try again.
            for _ in 0..<16 {
                do throws(RedisFailure) {
                    _ = try connection.ask(["WATCH", keys.lock])
                    guard try connection.ask(["GET", keys.lock]).text == owner.text else {
                        _ = try connection.ask(["UNWATCH"])
                        return nil
                    }
                } catch {
                    // It may watch.
                    connection.spend()
                    throw error
                }
                try connection.append(["MULTI"])
                try append(connection)
                try connection.append(["EXEC"])
                var numbers: [Int]?
                try connection.exchange { _, answer throws(RedisFailure) in
                    // Before the last all are statuses.
                    guard answer.text == nil, !answer.isNothing else { return }
                    numbers = try answer.integers()
                }
                if let numbers { return numbers }
            }
            return nil
        }
    }

    /// Renews the lock: whether it is ours.
    func isRenewed() throws(RedisFailure) -> Bool {
        try whileLocked { connection throws(RedisFailure) in
            try connection.append(["PEXPIRE", keys.lock, lease])
        } != nil
    }

    /// Lets the lock go, if nothing wants it any more. Without a server it ends with its lease.
    func letGo() {
        locking.withLock { _ in
            guard life.withQuietLock({ $0.isLocked && (!$0.wantsLock || $0.isExiting) }) else { return }
            _ = try? whileLocked { connection throws(RedisFailure) in try connection.append(["UNLINK", keys.lock]) }
            life.withLock { $0.isLocked = false }
        }
    }
}
#endif
