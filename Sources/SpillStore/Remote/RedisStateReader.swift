#if Redis
package import PressureSystem
package import SystemPackage

/// A generation that is restored, and then read for as long as values have their copies there. From any thread.
///
/// While it is checked, from the front to the end, strings are fetched whole, several in a round trip; afterwards only what a
/// value needs, in one.
package final class RedisStateReader: RedisFileSystem {
    private struct Window {
        var first = 0
        /// What the server has of the strings from there on; `nil` for one that is not as long as it was written.
        var strings: [[UInt8]?] = []
    }

    private let state: RedisState
    private let record: RedisStateRecord
    /// `nil` once it is read in no order.
    private let window = Lock<Window?>(Window())

    /// - Parameter left: how long it stays by itself.
    init(_ state: RedisState, _ record: RedisStateRecord, left: Duration) {
        self.state = state
        self.record = record
        state.attach(
            .init(
                id: ObjectIdentifier(self),
                generation: record.generation,
                segments: record.segments,
                end: SystemClock().now() + left
            )
        )
    }

    package var server: String? { state.server }

    package var keepsEverything: Bool { state.pool.keepsEverything }

    package func close(_ descriptor: CInt) { state.detach(ObjectIdentifier(self)) }

    package func expectRandomReads(_ descriptor: CInt) { window.withLock { $0 = nil } }

    package func usage(_ descriptor: CInt) throws(Errno) -> FileUsage {
        FileUsage(size: UInt64(record.bytes), allocated: UInt64(record.bytes))
    }

    package func write(
        _ descriptor: CInt,
        at offset: Int64,
        from first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) -> Int { throw .readOnlyFileSystem }

    package func read(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        // A read may give less than it was asked for: the caller asks for the rest.
        let destination = unsafe first.isEmpty ? second : first
        do throws(RedisFailure) {
            if let count = try unsafe readAhead(Int(offset), into: destination) { return count }
            return try unsafe fetch(Int(offset), into: destination)
        } catch {
            throw error.errno
        }
    }

    // MARK: In order

    /// `nil` when it is read in no order any more.
    private func readAhead(
        _ offset: Int,
        into destination: UnsafeMutableRawBufferPointer
    ) throws(RedisFailure) -> Int? {
        let (number, start) = offset.quotientAndRemainder(dividingBy: RedisStateRecord.segmentLength)
        let count = min(destination.count, record.length(ofSegment: number) - start)
        guard var found = window.withLock({ $0 }) else { return nil }
        guard count > 0 else { return 0 }
        if !(found.first..<found.first + found.strings.count).contains(number) {
            found = Window(first: number, strings: try fetchStrings(from: number))
            window.withLock { if $0 != nil { $0 = found } }
        }
        guard let bytes = found.strings[number - found.first] else { return 0 }
        unsafe destination.copyBytes(from: bytes[start..<start + count])
        return count
    }

    private func fetchStrings(from first: Int) throws(RedisFailure) -> [[UInt8]?] {
        let numbers = first..<min(first + RedisStateWriter.segmentsOfRequest, record.segments)
        return try state.pool.withConnectionRepeatably { connection throws(RedisFailure) in
            for number in numbers { try connection.append(["GET", state.keys.segment(number, of: record.generation)]) }
            var strings: [[UInt8]?] = []
            try connection.exchange { index, answer throws(RedisFailure) in
                strings.append(try answer.bytes(count: record.length(ofSegment: first + index)))
            }
            if strings.contains(nil) { try connection.confirmLoss() }
            return strings
        }
    }

    // MARK: In no order

    private func fetch(
        _ offset: Int,
        into destination: UnsafeMutableRawBufferPointer
    ) throws(RedisFailure) -> Int {
        var parts: [(key: String, offset: Int, range: Range<Int>)] = []
        var wanted = 0
        let end = min(destination.count, record.bytes - offset)
        while wanted < end {
            let (number, start) = (offset + wanted).quotientAndRemainder(dividingBy: RedisStateRecord.segmentLength)
            let count = min(end - wanted, RedisStateRecord.segmentLength - start)
            parts.append((state.keys.segment(number, of: record.generation), start, wanted..<wanted + count))
            wanted += count
        }
        guard !parts.isEmpty else { return 0 }
        return try state.pool.withConnectionRepeatably { connection throws(RedisFailure) in
            try unsafe connection.read(parts, into: destination)
        }
    }
}
#endif
