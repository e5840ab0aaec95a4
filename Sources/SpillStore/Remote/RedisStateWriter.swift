#if Redis
package import PressureSystem
package import SystemPackage

/// A generation that is being written. Bytes are gathered into strings of 1 MiB, and several of them sent together; what the
/// server has taken is read back in the same round trip and compared. One thread's at a time.
///
/// What was written and is not the state yet has a lease, which is renewed with the requests that follow, on the same
/// connection: so nothing that is late can shorten the time that the whole is given in the end.
package final class RedisStateWriter: RedisFileSystem {
    /// Strings of one request.
    static let segmentsOfRequest = 4

    private struct State {
        /// Strings that are not on the server as they are here.
        var pending: [Int: [UInt8]] = [:]
        /// Strings that are, or were: all below.
        var sent = 0
        /// Bytes to the end of the last write.
        var size = 0
        var renewed: MonotonicInstant
        /// Why nothing more is written.
        var failure: RedisFailure?
    }

    let generation = RedisStateKeys.newGeneration()
    private let state: RedisState
    private let connection: RedisConnection
    private let inner: Lock<State>

    init(_ state: RedisState) throws(RedisFailure) {
        self.state = state
        connection = try state.pool.withConnectionApart { $0 }
        inner = Lock(State(renewed: SystemClock().now()))
    }

    package var server: String? { state.server }

    package func close(_ descriptor: CInt) {}

    package func usage(_ descriptor: CInt) throws(Errno) -> FileUsage {
        let size = UInt64(inner.withLock { $0.size })
        return FileUsage(size: size, allocated: size)
    }

    private func attempt<Result>(
        _ body: (inout State) throws(RedisFailure) -> Result
    ) throws(RedisFailure) -> Result {
        try inner.withLock { inner throws(RedisFailure) in
            if let failure = inner.failure { throw failure }
            do throws(RedisFailure) {
                return try body(&inner)
            } catch {
                inner.failure = error
                throw error
            }
        }
    }

    // MARK: Writing

    package func write(
        _ descriptor: CInt,
        at offset: Int64,
        from first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) -> Int {
        let bytes = unsafe first.isEmpty ? second : first
        let (number, start) = Int(offset).quotientAndRemainder(dividingBy: RedisStateRecord.segmentLength)
        let count = min(bytes.count, RedisStateRecord.segmentLength - start)
        do throws(RedisFailure) {
            try attempt { inner throws(RedisFailure) in
                guard Int(offset) + count <= RedisStateRecord.mostBytes else {
                    throw RedisFailure(.fileTooLarge, mayArrive: false)
                }
                try prepare(number, &inner)
                // Both are that long.
                unsafe inner.pending[number]!.withUnsafeMutableBytes { string in
                    let place = unsafe UnsafeMutableRawBufferPointer(rebasing: string[start..<start + count])
                    unsafe place.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                }
                inner.size = max(inner.size, Int(offset) + count)
            }
        } catch {
            throw error.errno
        }
        return count
    }

    /// Has a string ready to be written to, and sends those before it that are many enough.
    private func prepare(_ number: Int, _ inner: inout State) throws(RedisFailure) {
        if number < inner.sent, inner.pending[number] == nil {
            // A place that was given back is taken again.
            inner.pending[number] = try fetch(number)
        }
        var next = max(inner.sent, inner.pending.keys.max().map { $0 + 1 } ?? 0)
        while next <= number {
            if inner.pending.count > Self.segmentsOfRequest { try send(inner.pending.keys.sorted().dropLast(), &inner) }
            inner.pending[next] = [UInt8](repeating: 0, count: RedisStateRecord.segmentLength)
            next += 1
        }
    }

    private func send(_ numbers: some Collection<Int>, _ inner: inout State) throws(RedisFailure) {
        var rest = numbers[...]
        while !rest.isEmpty {
            let batch = Array(rest.prefix(Self.segmentsOfRequest))
            try exchange(batch, inner)
            for number in batch {
                inner.sent = max(inner.sent, number + 1)
                inner.pending[number] = nil
            }
            rest = rest.dropFirst(batch.count)
        }
        let now = SystemClock().now()
        guard now - inner.renewed > state.options.lease / 3 else { return }
        inner.renewed = now
        try renew(inner.sent, state.lease)
    }

    /// The strings, then the same strings back.
    private func exchange(_ batch: [Int], _ inner: State) throws(RedisFailure) {
        let strings = batch.map { number in
            inner.pending[number]!.prefix(inner.size - number * RedisStateRecord.segmentLength)
        }
        for (number, bytes) in zip(batch, strings) {
            let words = ["PSETEX", state.keys.segment(number, of: generation), state.lease]
            try connection.append(words, bytes: bytes)
        }
        for number in batch { try connection.append(["GET", state.keys.segment(number, of: generation)]) }
        try connection.exchange { index, answer throws(RedisFailure) in
            if index < batch.count {
                guard answer.text == "OK" else { throw .nonsense }
            } else {
                let isEqual = unsafe strings[index - batch.count].withUnsafeBytes { unsafe answer.isEqual(to: $0) }
                guard isEqual else { throw RedisFailure(.illegalByteSequence, mayArrive: false) }
            }
        }
    }

    private func renew(_ count: Int, _ time: String) throws(RedisFailure) {
        let names = state.keys.segments(of: generation, count: count)
        let renewed = try connection.expire(names, in: time)
        // Those that are gone are not.
        guard renewed == count else { throw RedisFailure(.illegalByteSequence, mayArrive: false) }
    }

    /// Sends what is left, and gives all of it the time that it is to stay.
    ///
    /// - Returns: how many bytes there are.
    func finish(keptFor time: Duration) throws(RedisFailure) -> Int {
        try attempt { inner throws(RedisFailure) in
            try send(inner.pending.keys.sorted(), &inner)
            let time = "\(time.nanoseconds / 1_000_000)"
            try renew(inner.sent, time)
            if state.options.requiredReplicas > 0 {
                let last = state.keys.segment(inner.sent - 1, of: generation)
                try connection.awaitReplicas(state.options.requiredReplicas, of: [last], in: time)
            }
            return inner.size
        }
    }

    /// Deletes what was written; what cannot be deleted goes with its lease.
    func discard() {
        let count = inner.withLock { max($0.sent, ($0.pending.keys.max() ?? -1) + 1) }
        let names = state.keys.segments(of: generation, count: count)
        try? state.pool.withConnectionRepeatably { connection throws(RedisFailure) in try connection.unlink(names) }
    }

    // MARK: Reading back

    package func read(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        let destination = unsafe first.isEmpty ? second : first
        let (number, start) = Int(offset).quotientAndRemainder(dividingBy: RedisStateRecord.segmentLength)
        do throws(RedisFailure) {
            return try attempt { inner throws(RedisFailure) in
                let count = min(destination.count, RedisStateRecord.segmentLength - start, inner.size - Int(offset))
                guard count > 0 else { return 0 }
                // What is on the server was compared there.
                let bytes: [UInt8]
                if let pending = inner.pending[number] {
                    bytes = pending
                } else {
                    bytes = try fetch(number)
                }
                unsafe destination.copyBytes(from: bytes[start..<start + count])
                return count
            }
        } catch {
            throw error.errno
        }
    }

    private func fetch(_ number: Int) throws(RedisFailure) -> [UInt8] {
        let answer = try connection.ask(["GET", state.keys.segment(number, of: generation)])
        guard let bytes = try answer.bytes(count: RedisStateRecord.segmentLength) else {
            throw RedisFailure(.illegalByteSequence, mayArrive: false)
        }
        return bytes
    }
}
#endif
