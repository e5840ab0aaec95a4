package import PressureSystem

/// Turns chunks into the payloads of frames, in memory reserved when it is made: about 256 KiB of deflate state and as
/// much output, all of it before the first warning.
///
/// For one thread at a time; a second one traps.
// Safe to share: `use` lets one thread at a time at the rest, with acquire and release ordering between them.
package final class ChunkEncoder: @unchecked Sendable {
    /// The result of encoding: valid until the encoder is used again and the plain bytes go.
    @safe struct Encoded {
        var codec: Codec
        var payload: UnsafeRawBufferPointer
        /// Whether compressing was tried, or the chunk stored unseen.
        var isTried: Bool
    }

    let use = ExclusiveUse()
    let clock: any MonotonicClock
    private let deflater: Deflater
    #if Zstd
    private let compressor: ZstdCompressor
    #endif
    private let output: ReservedPages
    private var batch = FrameBatch()
    private let readBack: ReservedPages
    private let piece: ReservedPages
    #if Encryption
    private let sealed: ReservedPages
    #endif

    /// What the last chunk that `SegmentFile.write` wrote with this encoder took; `nil` before. Read it on the thread
    /// that wrote.
    package internal(set) var lastCost: ChunkCost?

    /// Reserves everything encoding will need.
    ///
    /// - Parameters:
    ///   - clock: what ``lastCost`` is measured with.
    ///   - isTouched: whether all of it is memory now, and not only addresses until it is used.
    /// - Throws: ``PressureError`` with code `spillFailed` when there is no memory for it.
    package init(clock: any MonotonicClock = SystemClock(), isTouched: Bool = true) throws(PressureError) {
        self.clock = clock
        deflater = try Deflater(isTouched: isTouched)
        #if Zstd
        compressor = try ZstdCompressor()
        #endif
        output = try ReservedPages(byteCount: SegmentFile.chunkSize, isTouched: isTouched)
        readBack = try ReservedPages(byteCount: Self.readBackLength, isTouched: isTouched)
        piece = try ReservedPages(byteCount: SegmentFile.chunkSize, isTouched: false)
        #if Encryption
        sealed = try ReservedPages(byteCount: SegmentFile.chunkSize, isTouched: isTouched)
        #endif
    }

    /// Gives the scratch's memory back to the system, for an encoder that is not in use; the next use takes it again.
    /// Allocates nothing.
    package func giveBack() {
        use.begin()
        defer { use.end() }
        deflater.giveBack()
        output.giveBack()
        readBack.giveBack()
        piece.giveBack()
        #if Encryption
        sealed.giveBack()
        #endif
    }

    /// How much of a frame is read back at a time to be compared: little enough to stay in the processor's cache.
    static let readBackLength = 32 << 10

    /// Room for a slice of payload that is read back.
    var readBackBytes: UnsafeMutableRawBufferPointer {
        // As long as its owner, like the encoder's user.
        unsafe readBack.bytes
    }

    /// Room for a chunk of plain bytes that have to be made first, for the encoder's user. Addresses until it is used.
    package var pieceBytes: UnsafeMutableRawBufferPointer {
        // As above; a reservation may be longer.
        unsafe UnsafeMutableRawBufferPointer(rebasing: piece.bytes[..<SegmentFile.chunkSize])
    }

    /// Where payloads are encoded to.
    var outputBytes: UnsafeMutableRawBufferPointer {
        // As above.
        unsafe output.bytes
    }

    /// A frame as it is written past the page cache: whole units from the beginning of a page, with zeros behind it. Where
    /// it is not that already, or lies in the encoder's memory, a copy in `output`, where no other frame lies then.
    func wholeUnits(of frame: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let unit = ExtentAllocator.unitSize
        let count = ExtentAllocator.units(forByteCount: frame.count) * unit
        let base = frame.baseAddress
        // Both reservations hold whole units and begin with a page; slicing checks the bounds.
        if unsafe base == UnsafeRawPointer(outputBytes.baseAddress) {
            return unsafe Self.pad(UnsafeMutableRawBufferPointer(rebasing: outputBytes[..<count]), from: frame.count)
        }
        if unsafe base == UnsafeRawPointer(sealedBytes.baseAddress) {
            return unsafe Self.pad(UnsafeMutableRawBufferPointer(rebasing: sealedBytes[..<count]), from: frame.count)
        }
        if count == frame.count, UInt(bitPattern: base) % UInt(unit) == 0 { return unsafe frame }
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: outputBytes[..<count])
        unsafe room.copyMemory(from: frame)
        return unsafe Self.pad(room, from: frame.count)
    }

    private static func pad(_ units: UnsafeMutableRawBufferPointer, from end: Int) -> UnsafeRawBufferPointer {
        // The rest of the slice.
        unsafe UnsafeMutableRawBufferPointer(rebasing: units[end...]).initializeMemory(as: UInt8.self, repeating: 0)
        return UnsafeRawBufferPointer(units)
    }

    /// Room for a sealed chunk; none without the package trait `Encryption`.
    var sealedBytes: UnsafeMutableRawBufferPointer {
        #if Encryption
        // As above.
        unsafe sealed.bytes
        #else
        unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
        #endif
    }

    /// Encodes one chunk. Allocates nothing and does not block.
    ///
    /// The payload is `plain` itself when it is stored: nothing is copied.
    func encode(_ plain: UnsafeRawBufferPointer, _ choice: CompressionChoice) -> Encoded {
        guard choice != .stored, let limit = Self.compressedLimit(plain.count) else {
            return unsafe Encoded(codec: .stored, payload: plain, isTried: false)
        }
        // `limit` is below the chunk size, which `output` holds. Output that does not fit means "store".
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: output.bytes[..<limit])
        if let codec = unsafe codec(for: plain, choice), let count = unsafe compress(plain, codec, into: room) {
            let payload = unsafe UnsafeRawBufferPointer(rebasing: room[..<count])
            return unsafe Encoded(codec: codec, payload: payload, isTried: true)
        }
        return unsafe Encoded(codec: .stored, payload: plain, isTried: true)
    }

    /// The longest compressed payload that pays for `count` plain bytes: a tenth shorter, in at least one allocation
    /// unit less. `nil` when there is none, as for a chunk that fits one unit anyway.
    package static func compressedLimit(_ count: Int) -> Int? {
        let units = ExtentAllocator.units(forByteCount: count)
        let limit = min(count * 9 / 10, (units - 1) * ExtentAllocator.unitSize)
        return limit > 0 ? limit : nil
    }

    /// The codec to try; `nil` when a look at the bytes says that none would pay.
    private func codec(for plain: UnsafeRawBufferPointer, _ choice: CompressionChoice) -> Codec? {
        switch choice {
        case .stored: nil
        case .deflate: .deflate
        #if Zstd
        // Without a look: on bytes that do not compress, zstd is faster than a trial of deflate.
        case .zstd, .adaptive: .zstd
        #else
        case .adaptive: unsafe isWorthDeflating(plain) ? .deflate : nil
        #endif
        }
    }

    private func compress(
        _ plain: UnsafeRawBufferPointer,
        _ codec: Codec,
        into room: UnsafeMutableRawBufferPointer
    ) -> Int? {
        switch codec {
        case .stored: nil
        case .deflate: unsafe deflater.compress(plain, into: room)
        #if Zstd
        case .zstd: unsafe compressor.compress(plain, into: room)
        #endif
        }
    }

    #if !Zstd
    private func isWorthDeflating(_ plain: UnsafeRawBufferPointer) -> Bool {
        switch unsafe CompressibilityProbe.verdict(plain) {
        case .compress: return true
        case .trial:
            let (first, second) = unsafe CompressibilityProbe.trialSlices(of: plain)
            let limit = Int(Double(2 * CompressibilityProbe.sliceLength) * CompressibilityProbe.trialThreshold)
            // Not in `output`, where the frames of a batch lie already. `limit` is far below what `readBack` holds, which
            // is only used once a batch has been written.
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: readBack.bytes[..<limit])
            return unsafe deflater.compress(first, second, into: room) != nil
        }
    }
    #endif
}

/// A batch of small frames, encoded one behind the other into `output`. `SegmentFile` says what it is for.
extension ChunkEncoder {
    /// Values shorter than this are never compressed: there is nothing to win.
    private static let shortestCompressed = 128

    func beginBatch(sharesUnits: Bool) {
        batch.begin(FrameLayout(capacity: SegmentFile.chunkSize, sharesUnits: sharesUnits))
    }

    func abandonBatch() { batch.removeAll() }

    var batchSharesUnits: Bool { batch.layout.sharesUnits }

    /// All bytes of the batch, with what lies between the frames. Valid until the encoder is used again.
    var batchBytes: UnsafeRawBufferPointer {
        // `append` takes no frame that would end behind `output`.
        unsafe UnsafeRawBufferPointer(rebasing: output.bytes[..<batch.byteCount])
    }

    /// How many values are in the batch.
    package var batchCount: Int { batch.count }

    /// The record of a value of a batch that was written.
    package func batchRecord(_ index: Int) -> SpillRecord { batch.record(index) }

    /// What came of trying to compress the value that was appended last; `nil` if that was not tried.
    package var batchTrial: CodecTrial? { batch.lastTrial }

    /// What the batch took that was written.
    package var batchCost: BatchCost { batch.cost }

    func noteBatchWritten(in time: Duration) { batch.noteWritten(in: time) }

    func framesInUnit(from index: Int) -> Int { batch.framesInUnit(from: index) }

    /// Whether bytes are those of the batch that has its place, told by its records.
    func isBatch(_ bytes: UnsafeRawBufferPointer) -> Bool { unsafe batch.isIntact(in: bytes) }

    func placeBatch(at unit: UInt32, generation: UInt64) {
        unsafe batch.place(at: unit, generation: generation, batchBytes)
    }

    /// Seals the frames of a batch that has its place, each where it lies in the run: all bytes of the run. `nil` when the
    /// cipher failed.
    func sealBatch(with cipher: SpillCipher) -> UnsafeRawBufferPointer? {
        // As long as `output`, which holds the batch.
        let output = unsafe UnsafeMutableRawBufferPointer(rebasing: sealedBytes[..<batch.byteCount])
        guard unsafe batch.seal(batchBytes, into: output, with: cipher) else { return nil }
        return UnsafeRawBufferPointer(output)
    }

    /// Encodes a value to the end of the batch; `false` when there may be no room for it.
    func append(_ plain: UnsafeRawBufferPointer, _ choice: CompressionChoice) -> Bool {
        // Room for the value as it is, so that no codec has to be tried in vain.
        guard batch.count < FrameBatch.capacity, let place = batch.layout.offset(for: plain.count) else { return false }
        var trial: Duration?
        if choice != .stored, let limit = compressedLimitInBatch(plain.count),
            let codec = unsafe codec(for: plain, choice)
        {
            // `limit` is below the value's length, so it ends inside `output` too.
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: output.bytes[place..<place + limit])
            let start = clock.now()
            clock.spent(on: .compressing, byteCount: plain.count)
            let count = unsafe compress(plain, codec, into: room)
            trial = clock.now() - start
            if let count {
                // What is shorter may fit a place further up, which ends before `room` does.
                let offset = batch.layout.offset(for: count) ?? place
                unsafe (output.bytes.baseAddress! + offset).copyMemory(from: room.baseAddress!, byteCount: count)
                batch.add(offset: offset, storedLength: count, plainLength: plain.count, codec: codec, trial: trial)
                return true
            }
        }
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: output.bytes[place..<place + plain.count])
        unsafe room.copyMemory(from: plain)
        batch.add(offset: place, storedLength: plain.count, plainLength: plain.count, codec: .stored, trial: trial)
        return true
    }

    private func compressedLimitInBatch(_ count: Int) -> Int? {
        guard count >= Self.shortestCompressed else { return nil }
        let isShort = count <= ExtentAllocator.unitSize
        return batch.layout.sharesUnits && isShort ? count * 9 / 10 : Self.compressedLimit(count)
    }
}
