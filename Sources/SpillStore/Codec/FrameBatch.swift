/// The frames of a batch: where they lie in the encoder's output, and, once the batch has its place in the file, their
/// records. Memory for as many as a batch can have is reserved when it is made. For one thread at a time.
@safe struct FrameBatch: ~Copyable {
    /// Frames of a batch at most.
    static let capacity = 512

    private struct Frame {
        var offset: Int
        var storedLength: Int
        var plainLength: Int
        var codec: Codec
    }

    private let frames: UnsafeMutablePointer<Frame>
    private let records: UnsafeMutablePointer<SpillRecord>
    private(set) var layout = FrameLayout(capacity: 0, sharesUnits: false)
    private(set) var count = 0
    /// What came of trying to compress the last frame; `nil` if that was not tried.
    private(set) var lastTrial: CodecTrial?
    /// What the batch has taken so far.
    private(set) var cost = BatchCost()

    init() {
        // Written before they are read, up to `count`; freed in `deinit`. Both types are trivial.
        unsafe frames = .allocate(capacity: Self.capacity)
        unsafe records = .allocate(capacity: Self.capacity)
    }

    deinit {
        unsafe frames.deallocate()
        unsafe records.deallocate()
    }

    /// Begins anew.
    mutating func begin(_ layout: FrameLayout) {
        self.layout = layout
        count = 0
        cost = BatchCost()
    }

    /// Forgets the frames.
    mutating func removeAll() { count = 0 }

    /// Adds a frame at the place that the layout gave for it.
    ///
    /// - Parameter trial: how long compressing it took, if that was tried.
    mutating func add(offset: Int, storedLength: Int, plainLength: Int, codec: Codec, trial: Duration?) {
        precondition(count < Self.capacity)
        layout.take(offset, length: storedLength)
        // Below the capacity.
        unsafe (frames + count).initialize(
            to: Frame(offset: offset, storedLength: storedLength, plainLength: plainLength, codec: codec)
        )
        count += 1
        cost.storedBytes += storedLength
        lastTrial = trial == nil ? nil : CodecTrial(plainBytes: plainLength, storedBytes: storedLength, codec: codec)
        if codec == .stored { return }
        cost.packedPlainBytes += plainLength
        cost.packedBytes += storedLength
        cost.encodeTime += trial ?? .zero
    }

    /// The batch has been written, which took so long.
    mutating func noteWritten(in time: Duration) { cost.writeTime = time }

    /// Bytes up to the end of the last frame.
    var byteCount: Int {
        // `count` frames are initialised.
        count == 0 ? 0 : unsafe frames[count - 1].offset + frames[count - 1].storedLength
    }

    /// Makes the records of a batch that lies at `unit`; `bytes` is all of it.
    mutating func place(at unit: UInt32, generation: UInt64, _ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == byteCount)
        var index = 0
        while index < count {
            // As above; every frame lies within `bytes`, which end with the last one.
            let frame = unsafe frames[index]
            let payload = unsafe UnsafeRawBufferPointer(
                rebasing: bytes[frame.offset..<frame.offset + frame.storedLength]
            )
            let record = SpillRecord(
                generation: generation + UInt64(index),
                unit: unit + UInt32(frame.offset / ExtentAllocator.unitSize),
                storedLength: UInt32(frame.storedLength),
                plainLength: UInt32(frame.plainLength),
                codec: frame.codec,
                checksum: unsafe Checksum.crc32(payload),
                grain: UInt8(frame.offset % ExtentAllocator.unitSize / FrameLayout.grain),
                isShared: isNeighbour(index, index - 1) || isNeighbour(index, index + 1)
            )
            unsafe (records + index).initialize(to: record)
            index += 1
        }
    }

    /// Seals the frames of a batch that has its place from one run into another: whether the cipher did it.
    mutating func seal(
        _ bytes: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        with cipher: SpillCipher
    ) -> Bool {
        precondition(bytes.count == byteCount && output.count == byteCount)
        var index = 0
        while index < count {
            // As above; every frame lies within `bytes`, and `output` has as many.
            let frame = unsafe frames[index]
            let range = frame.offset..<frame.offset + frame.storedLength
            guard
                let seal = unsafe cipher.seal(
                    UnsafeRawBufferPointer(rebasing: bytes[range]),
                    generation: records[index].generation,
                    into: UnsafeMutableRawBufferPointer(rebasing: output[range])
                )
            else { return false }
            unsafe records[index].seal = seal
            index += 1
        }
        return true
    }

    /// Whether the frames of a batch that has its place lie in these bytes as they were, by their checksums.
    func isIntact(in bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < count {
            // As above; slicing checks the bounds.
            let frame = unsafe frames[index]
            let range = frame.offset..<frame.offset + frame.storedLength
            let checksum = unsafe Checksum.crc32(UnsafeRawBufferPointer(rebasing: bytes[range]))
            guard unsafe checksum == records[index].checksum else { return false }
            index += 1
        }
        return true
    }

    /// The record of a frame of a batch that has its place.
    func record(_ index: Int) -> SpillRecord {
        precondition(0..<count ~= index)
        // Initialised by `place`, below `count`.
        return unsafe records[index]
    }

    /// How many frames from this one on lie in the unit where it lies.
    func framesInUnit(from index: Int) -> Int {
        var end = index + 1
        while isNeighbour(index, end) { end += 1 }
        return end - index
    }

    /// Whether both are frames and begin in the same unit.
    private func isNeighbour(_ first: Int, _ second: Int) -> Bool {
        guard second >= 0, second < count else { return false }
        // As above.
        return unsafe frames[first].offset / ExtentAllocator.unitSize
            == frames[second].offset / ExtentAllocator.unitSize
    }
}
