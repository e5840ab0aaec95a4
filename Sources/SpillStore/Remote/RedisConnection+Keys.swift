#if Redis
import PressureSystem
import SystemPackage

/// What is done to many keys, or to parts of several strings, with few round trips.
extension RedisConnection {
    /// Keys of one request: so that neither it nor its answers are long.
    static let keysOfRequest = 512

    /// Does the same to many keys, some at a time; each request is answered with a number.
    ///
    /// - Returns: the sum of the numbers.
    @discardableResult
    func forAll(
        _ names: [String],
        _ append: (ArraySlice<String>) throws(RedisFailure) -> Void
    ) throws(RedisFailure) -> Int {
        var start = 0
        var sum = 0
        while start < names.count {
            let batch = names[start..<min(start + Self.keysOfRequest, names.count)]
            try append(batch)
            try exchange { _, answer throws(RedisFailure) in
                guard let number = answer.integer else { throw .nonsense }
                sum += number
            }
            start = batch.endIndex
        }
        return sum
    }

    /// Deletes keys, in the server's background.
    func unlink(_ names: [String]) throws(RedisFailure) {
        try forAll(names) { batch throws(RedisFailure) in try append(["UNLINK"] + batch) }
    }

    /// Gives those keys that are there a new time to live, in the protocol's words.
    ///
    /// - Returns: how many are.
    func expire(_ names: [String], in time: String) throws(RedisFailure) -> Int {
        try forAll(names) { batch throws(RedisFailure) in
            for name in batch { try append(["PEXPIRE", name, time]) }
        }
    }

    /// Waits until replicas have what was written to some keys, by whomever: replicas are sent writes in their order, and the last
    /// is the one that renews the leases here.
    ///
    /// - Parameters:
    ///   - count: how many replicas must have it, at least one.
    ///   - names: keys that must be there.
    ///   - time: what they are to live from now on, in the protocol's words.
    /// - Throws: that fewer have it, after half of the time that a request may take; that keys are missing.
    func awaitReplicas(_ count: Int, of names: [String], in time: String) throws(RedisFailure) {
        guard try expire(names, in: time) == names.count else {
            throw RedisFailure(.illegalByteSequence, mayArrive: false)
        }
        let milliseconds = max(1, timeout.nanoseconds / 2_000_000)
        guard let found = try ask(["WAIT", "\(count)", "\(milliseconds)"]).integer else { throw .nonsense }
        guard found >= count else { throw RedisFailure(.noLink, mayArrive: false) }
    }

    /// Reads parts of strings, in one round trip.
    ///
    /// - Parameters:
    ///   - parts: where each is, and which bytes of the destination, in order.
    ///   - destination: has room for all of them.
    /// - Returns: how many bytes there are, up to the first part that is there no more.
    func read(
        _ parts: [(key: String, offset: Int, range: Range<Int>)],
        into destination: UnsafeMutableRawBufferPointer
    ) throws(RedisFailure) -> Int {
        for part in parts {
            let last = part.offset + part.range.count - 1
            try append(["GETRANGE", part.key, "\(part.offset)", "\(last)"])
        }
        var count = 0
        var isWhole = true
        try exchange { index, answer throws(RedisFailure) in
            // A part's range lies in the destination.
            let place = unsafe UnsafeMutableRawBufferPointer(rebasing: destination[parts[index].range])
            // What is there no more is an empty string, and ends the file.
            isWhole = try unsafe answer.copyBytes(to: place) && isWhole
            if isWhole { count += place.count }
        }
        if !isWhole { try confirmLoss() }
        return count
    }
}
#endif
