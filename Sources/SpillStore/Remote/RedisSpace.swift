#if Redis
package import PressureSystem
package import SystemPackage

/// A file that is strings on a Redis or Valkey server: what the segment file of a process without a disk lives in.
///
/// So that values there are placed, framed, checked, sealed and counted by the code that does it on disk. What is written is
/// acknowledged by the server. What the server has lost, since it was restarted or a lease ran out, is shorter than it was
/// written, or does not match its checksum.
///
/// Every call blocks on the network, no longer than deadlines allow, and allocates: hiredis copies requests and answers.
package final class RedisSpace: RedisFileSystem {
    let options: RedisSpaceOptions
    let pool: RedisPool
    let keys: RedisKeys
    let segments = Lock(RedisSegments())
    /// What the thread that renews the lease is told, and what it says.
    let life = ConditionLock(RedisLease.Life())
    var process: ProcessMark { pool.process }

    /// Makes a space for one file, and asks nothing of the server yet.
    ///
    /// - Parameter clock: by which connecting is put off after failures.
    package init(_ options: RedisSpaceOptions, clock: any MonotonicClock = SystemClock()) {
        self.options = options
        keys = RedisKeys(prefix: options.keyPrefix)
        pool = RedisPool(options.server, for: keys.generation, clock: clock)
    }

    package var server: String? { "Redis at \(options.server.name)" }

    package var keepsEverything: Bool { pool.keepsEverything }

    // MARK: Opening and closing

    /// Connects, asks whether the server may evict, and enters the generation.
    package func openNameless(in directory: String) throws(Errno) -> CInt {
        do throws(RedisFailure) {
            try renew(isFirst: true)
        } catch {
            throw error.errno
        }
        do {
            try WorkerThread.spawn("pk-lease") { [self] in keepLease() }
        } catch {
            throw .noMemory
        }
        RedisLease.open(self)
        return 0
    }

    /// Has the thread that renews the lease delete all keys; does not wait for it.
    package func close(_ descriptor: CInt) {
        guard process.isThisProcess else { return }
        life.withLock { $0.isEnding = true }
    }

    // MARK: Reading and writing

    package func read(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        // A read may give less than it was asked for: the caller asks for the rest.
        let destination = unsafe first.isEmpty ? second : first
        let parts = segments.withLock { $0.parts(at: offset, count: destination.count) }
        do throws(RedisFailure) {
            return try pool.withConnectionRepeatably { connection throws(RedisFailure) in
                let named = parts.map { (keys.segment($0.number), $0.offset, $0.range) }
                return try unsafe connection.read(named, into: destination)
            }
        } catch {
            throw error.errno
        }
    }

    package func write(
        _ descriptor: CInt,
        at offset: Int64,
        from first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) -> Int {
        let bytes = unsafe first.isEmpty ? second : first
        guard process.isThisProcess else { throw .notPermitted }
        let parts = segments.withLock { $0.beginWrite(at: offset, count: bytes.count) }
        do throws(RedisFailure) {
            try pool.withConnection { connection throws(RedisFailure) in
                try unsafe store(parts, of: bytes, on: connection)
            }
        } catch {
            segments.withLock { $0.failWrite(parts, mayArrive: error.mayArrive) }
            throw error.errno
        }
        return bytes.count
    }

    /// Each part in a transaction: a key that exists has a lease, and its whole length from the first write on, so that the
    /// server does not move it to a place of twice the size.
    private func store(
        _ parts: [RedisSegments.Part],
        of bytes: UnsafeRawBufferPointer,
        on connection: RedisConnection
    ) throws(RedisFailure) {
        let end = RedisSegments.segmentLength
        for part in parts {
            let key = keys.segment(part.number)
            try connection.append(["MULTI"])
            try connection.append(["SETRANGE", key, "\(end)", "."])
            // A part's range lies in the bytes.
            let part = (part.offset, unsafe UnsafeRawBufferPointer(rebasing: bytes[part.range]))
            try unsafe connection.append(["SETRANGE", key, "\(part.0)"], bytes: part.1)
            try connection.append(["PEXPIRE", key, lease])
            try connection.append(["EXEC"])
        }
        try connection.exchange { index, answer throws(RedisFailure) in
            switch index % 5 {
            case 0: guard answer.text == "OK" else { throw .nonsense }
            case 4: guard try answer.integers() == [end + 1, end + 1, 1] else { throw .nonsense }
            default: guard answer.text == "QUEUED" else { throw .nonsense }
            }
        }
    }

    /// What was written may leave memory if the server has said that it does not evict: the one that has it now, which may
    /// not be the one that was asked when the write began. And if as many replicas have it as must.
    package func finishWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        if !keepsEverything { throw .resourceTemporarilyUnavailable }
        guard options.requiredReplicas > 0 else { return }
        let parts = segments.withLock { $0.parts(at: offset, count: Int(count)) }
        do throws(RedisFailure) {
            try pool.withConnection { connection throws(RedisFailure) in
                let names = parts.map { keys.segment($0.number) }
                try connection.awaitReplicas(options.requiredReplicas, of: names, in: lease)
            }
        } catch {
            throw error.errno
        }
    }

    // MARK: Giving back

    package func punchHole(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        let garbage = segments.withLock { segments in
            segments.giveBack(at: offset, count: count)
            return segments.takeGarbage()
        }
        // One that cannot be deleted now is not renewed, and goes with its lease.
        try? delete(garbage.map(keys.segment))
    }

    package func truncate(_ descriptor: CInt, to size: Int64) throws(Errno) {
        try punchHole(descriptor, at: size, count: .max)
    }

    package func usage(_ descriptor: CInt) throws(Errno) -> FileUsage {
        segments.withLock { segments in
            FileUsage(
                size: UInt64(segments.length),
                allocated: UInt64(segments.count) * UInt64(RedisSegments.segmentLength)
            )
        }
    }
}
#endif
