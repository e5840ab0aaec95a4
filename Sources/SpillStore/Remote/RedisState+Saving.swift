#if Redis
package import PressureSystem
import SystemPackage

/// Between ``RedisState/begin()`` and ``RedisState/end()``.
extension RedisState {
    /// What has become of a generation that was to be the state.
    package enum Replacement: Sendable {
        /// It is the state.
        case done
        /// It is, or the one before is: the server was not heard from any more.
        case unknown(PressureError)
    }

    /// Begins a new generation.
    ///
    /// - Throws: ``PressureError`` with `serverUnusable`.
    package func openNew() throws(PressureError) -> RedisStateWriter {
        do throws(RedisFailure) {
            return try RedisStateWriter(self)
        } catch {
            throw failed(error)
        }
    }

    /// Makes a generation, all of it acknowledged and compared, the state, and deletes the one before, in one step.
    ///
    /// - Parameter lifetime: how long it stays.
    /// - Throws: ``PressureError`` with `serverUnusable`, `stateDirectoryInUse`. The state is the one that it was.
    package func replace(with writer: RedisStateWriter, lifetime: Duration) throws(PressureError) -> Replacement {
        let outcome: Outcome
        do throws(RedisFailure) {
            outcome = try put(writer, lifetime)
        } catch {
            throw failed(error)
        }
        switch outcome {
        case .mayEvict: throw .stateMayBeEvicted(server)
        case .lost: throw .stateLost(place)
        case .unknown(let failure): return .unknown(failed(failure))
        case .done:
            replaceReaders()
            return .done
        }
    }

    private enum Outcome {
        case done, mayEvict, lost
        case unknown(RedisFailure)
    }

    private func put(_ writer: RedisStateWriter, _ lifetime: Duration) throws(RedisFailure) -> Outcome {
        // The bytes outlive the record: without it they are nothing.
        let bytes = try writer.finish(keptFor: lifetime + options.lease)
        let policy = try pool.withConnectionRepeatably { connection throws(RedisFailure) in
            try pool.askPolicy(connection)
        }
        guard policy == .keepsEverything else { return .mayEvict }
        do throws(RedisFailure) {
            guard try commit(writer.generation, bytes, lifetime) else { return .lost }
        } catch {
            guard error.mayArrive else { throw error }
            // The answer did not come. Look, on another connection; what may be on its way comes to nothing then.
            guard let isThere = try? isState(writer.generation) else { return .unknown(error) }
            if !isThere { throw error }
        }
        guard options.requiredReplicas > 0 else { return .done }
        do throws(RedisFailure) {
            try pool.withConnectionRepeatably { connection throws(RedisFailure) in
                let time = "\(lifetime.nanoseconds / 1_000_000)"
                try connection.awaitReplicas(options.requiredReplicas, of: [keys.record], in: time)
            }
            return .done
        } catch {
            // A replica that takes over now may have the one before.
            return .unknown(error)
        }
    }

    /// - Returns: whether the lock was ours.
    private func commit(_ generation: String, _ bytes: Int, _ lifetime: Duration) throws(RedisFailure) -> Bool {
        let (before, time) = try pool.withConnectionRepeatably {
            connection throws(RedisFailure) -> (RedisStateRecord?, Int) in
            let before = try self.record(on: connection)
            return (before, try connection.time())
        }
        let record = RedisStateRecord(
            generation: generation,
            bytes: bytes,
            saved: time,
            host: owner.host,
            pid: owner.pid
        )
        // What values here have their copies in stays until they have not.
        let isRead = life.withQuietLock { life in life.readers.contains { $0.generation == before?.generation } }
        let garbage = isRead ? [] : before.map { keys.segments(of: $0.generation, count: $0.segments) } ?? []
        return try whileLocked { connection throws(RedisFailure) in
            try connection.append(["UNLINK", keys.record])
            try connection.append(["HSET", keys.record] + record.words)
            try connection.append(["PEXPIRE", keys.record, "\(lifetime.nanoseconds / 1_000_000)"])
            var rest = garbage[...]
            while !rest.isEmpty {
                try connection.append(["UNLINK"] + rest.prefix(RedisConnection.keysOfRequest))
                rest = rest.dropFirst(RedisConnection.keysOfRequest)
            }
        } != nil
    }

    /// Whether a generation is the state, once nothing that is under way can change that any more: writing the lock has a
    /// transaction fail that watches it and comes later.
    private func isState(_ generation: String) throws(RedisFailure) -> Bool {
        try pool.withConnectionApart { connection throws(RedisFailure) in
            if try connection.ask(["GET", keys.lock]).text == owner.text {
                _ = try connection.ask(["PEXPIRE", keys.lock, lease])
            }
            return try record(on: connection)?.generation == generation
        }
    }

    /// What the record says now; `nil` when there is none.
    func record(on connection: RedisConnection) throws(RedisFailure) -> RedisStateRecord? {
        let answer = try connection.ask(["HMGET", keys.record] + RedisStateRecord.fields)
        guard let found = answer.list else { throw .nonsense }
        return RedisStateRecord(found)
    }

    /// Gives a generation up that is not the state.
    package func discard(_ writer: RedisStateWriter) { writer.discard() }

    /// Opens the state for reading; `nil` when there is none.
    ///
    /// - Throws: ``PressureError`` with `serverUnusable`.
    package func open() throws(PressureError) -> RedisStateReader? {
        do throws(RedisFailure) {
            let found = try pool.withConnectionRepeatably {
                connection throws(RedisFailure) -> (RedisStateRecord, Int)? in
                let record = try self.record(on: connection)
                guard let left = try connection.ask(["PTTL", keys.record]).integer else { throw .nonsense }
                return record.map { ($0, left) }
            }
            guard let (record, left) = found else { return nil }
            // -1: somebody has made it stay for ever, which is long.
            let time: Duration = left == -1 ? .seconds(100 * 365 * 86_400) : .milliseconds(max(0, left))
            let reader = RedisStateReader(self, record, left: time)
            renew()
            return reader
        } catch {
            throw failed(error)
        }
    }

    /// Deletes the state; what values here have their copies in stays until they have not.
    ///
    /// - Returns: whether there was one.
    /// - Throws: ``PressureError`` with `serverUnusable`, `stateDirectoryInUse`.
    package func remove() throws(PressureError) -> Bool {
        let isRemoved: Bool?
        do throws(RedisFailure) {
            let before = try pool.withConnectionRepeatably { connection throws(RedisFailure) in
                try record(on: connection)
            }
            let isRead = life.withQuietLock { life in life.readers.contains { $0.generation == before?.generation } }
            let garbage = isRead ? [] : before.map { keys.segments(of: $0.generation, count: $0.segments) } ?? []
            isRemoved = try whileLocked { connection throws(RedisFailure) in
                try connection.append(["UNLINK", keys.record])
            }.map { $0[0] == 1 }
            if isRemoved == true {
                try pool.withConnectionRepeatably { connection throws(RedisFailure) in try connection.unlink(garbage) }
            }
        } catch {
            throw failed(error)
        }
        guard let isRemoved else { throw .stateLost(place) }
        if isRemoved { replaceReaders() }
        return isRemoved
    }
}
#endif
