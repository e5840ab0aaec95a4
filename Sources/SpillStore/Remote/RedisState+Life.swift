#if Redis
import Glibc
import PressureSystem
import Synchronization
import SystemPackage

extension RedisState {
    /// What the thread that renews is told, and what it says.
    struct Life {
        /// Saves and restores that are under way.
        var work = 0
        var readers: [Reader] = []
        /// Keys that nobody reads any more.
        var garbage: [String] = []
        /// Whether the lock is ours, as far as we know.
        var isLocked = false
        var hasThread = false
        /// The process ends.
        var isExiting = false

        /// Whether there is a reason to keep others away.
        var wantsLock: Bool { work > 0 || readers.contains(where: \.isCurrent) }

        var isIdle: Bool { work == 0 && readers.isEmpty && garbage.isEmpty && !isLocked }
    }

    /// A generation in which restored values have their copies.
    struct Reader: Sendable {
        let id: ObjectIdentifier
        let generation: String
        /// How many strings it has.
        let segments: Int
        /// When it would go by itself.
        let end: MonotonicInstant
        /// Whether it is still the state. If not, it is ours alone, and goes with its last value.
        var isCurrent = true
    }

    private enum Step {
        case end, letGo, renew
        case delete([String])
    }

    private static let open = Lock<(states: [RedisState], isAtExit: Bool)>(([], false))

    func startThread() throws(PressureError) {
        do {
            try WorkerThread.spawn("pk-state") { [self] in keep() }
        } catch {
            life.withLock { $0.hasThread = false }
            throw error
        }
        let isFirst = Self.open.withLock { open in
            open.states.append(self)
            defer { open.isAtExit = true }
            return !open.isAtExit
        }
        if isFirst { atexit { RedisState.endAll() } }
    }

    /// Lets all locks go, and waits for each no longer than one connecting and one request may take.
    private static func endAll() {
        for state in open.withLock({ $0.states }) where state.process.isThisProcess {
            state.life.withLock { life in
                life.isExiting = true
                life.garbage += life.readers.filter { !$0.isCurrent }.flatMap(state.names)
            }
            let server = state.options.server
            _ = state.life.wait(atMost: server.connectTimeout + server.commandTimeout) { $0.hasThread ? nil : () }
        }
    }

    /// The life of the thread that renews.
    private func keep() {
        loop: while true {
            let step =
                life.wait(atMost: options.lease / 3) { life -> Step? in
                    if !life.garbage.isEmpty {
                        defer { life.garbage = [] }
                        return .delete(life.garbage)
                    }
                    if life.isLocked, !life.wantsLock || life.isExiting { return .letGo }
                    return life.isIdle || life.isExiting ? .end : nil
                } ?? .renew
            switch step {
            case .letGo: letGo()
            case .renew: if options.renews { renew() }
            // What cannot be deleted now goes with its lease.
            case .delete(let names):
                try? pool.withConnectionRepeatably { connection throws(RedisFailure) in try connection.unlink(names) }
            case .end: if endThread() { break loop }
            }
        }
    }

    /// Whether nobody has begun meanwhile.
    private func endThread() -> Bool {
        Self.open.withLock { open in open.states.removeAll { $0 === self } }
        let isEnding = life.withLock { life in
            life.hasThread = !life.isIdle && !life.isExiting
            return !life.hasThread
        }
        if !isEnding { Self.open.withLock { $0.states.append(self) } }
        return isEnding
    }

    // MARK: Renewing

    /// Gives a sign of life: renews the lock, and the leases of what is read here, and asks whether the server may evict now.
    func renew() {
        // What fails now is tried again well before the lease ends.
        if life.withQuietLock({ $0.isLocked }), (try? isRenewed()) == false { life.withLock { $0.isLocked = false } }
        _ = try? pool.withConnectionRepeatably { connection throws(RedisFailure) in try pool.askPolicy(connection) }
        for reader in life.withQuietLock({ $0.readers }) { try? renew(reader) }
    }

    /// Relative to when it arrives: late is never too short.
    private func renew(_ reader: Reader) throws(RedisFailure) {
        let left = reader.isCurrent ? max(.zero, reader.end - SystemClock().now()) : .zero
        // Longer than the record, by which they are found.
        let time = "\((left + options.lease).nanoseconds / 1_000_000)"
        _ = try pool.withConnectionRepeatably { connection throws(RedisFailure) in
            try connection.expire(names(reader), in: time)
        }
    }

    // MARK: Readers

    func names(_ reader: Reader) -> [String] { keys.segments(of: reader.generation, count: reader.segments) }

    /// Values may have their copies in a generation from now on.
    func attach(_ reader: Reader) { life.withLock { $0.readers.append(reader) } }

    /// They have not any more. Does not block; may be called in a child of fork(2), where it does nothing.
    func detach(_ id: ObjectIdentifier) {
        guard process.isThisProcess else { return }
        life.withLock { life in
            guard let index = life.readers.firstIndex(where: { $0.id == id }) else { return }
            let reader = life.readers.remove(at: index)
            let isRead = life.readers.contains { $0.generation == reader.generation }
            if !reader.isCurrent, !isRead { life.garbage += names(reader) }
        }
    }

    /// Another generation is the state now: those before are read by us alone.
    func replaceReaders() {
        let replaced = life.withLock { life -> [Reader] in
            for index in life.readers.indices { life.readers[index].isCurrent = false }
            return life.readers
        }
        // They had the time that a state has.
        for reader in replaced { try? renew(reader) }
    }
}
#endif
