public import CLinuxShims
public import Synchronization

/// What one thread is reading now: its hazard pointers (Michael, "Hazard Pointers", IEEE TPDS 2004), in cache lines that
/// only it writes while nobody takes values away.
///
/// A reader publishes the address of a slot in a place, and looks at the slot's word again; if that still lets readers
/// in, nobody takes the value until the place is empty. Between the two there is no fence of the processor: whoever takes
/// values away makes all threads run one, by membarrier(2). See ``HazardScan``.
///
/// Records are never freed: that of a thread that has ended is the next new one's.
@safe @usableFromInline
package struct HazardRecord: @unchecked Sendable {
    // Sendable and safe: `words` are `size` atomics that stay for ever.
    @usableFromInline let words: UnsafeMutablePointer<Atomic<UInt>>

    @inlinable init(words: UnsafeMutablePointer<Atomic<UInt>>) { unsafe self.words = words }

    /// How many reads may be under way in a thread, one inside the other; what is deeper is counted.
    @inlinable package static var placeCount: Int { 6 }

    // The first line is the thread's own: places, how many are taken, and reads until one is drawn. The second pair of
    // lines is written by scans: claims, one to a place, the next record, and whether a thread has this one.
    @inlinable static var depthIndex: Int { 6 }
    @inlinable static var drawIndex: Int { 7 }
    @inlinable static var claimIndex: Int { 16 }
    @inlinable static var nextIndex: Int { 22 }
    @inlinable static var takenIndex: Int { 23 }
    @inlinable static var numberIndex: Int { 24 }
    private static let size = 32

    @inlinable func word(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt>> { unsafe words + index }

    /// The calling thread's record; `nil` before it has one.
    @inlinable package static var own: HazardRecord? {
        guard let record = unsafe pk_own_record() else { return nil }
        return unsafe HazardRecord(words: record.assumingMemoryBound(to: Atomic<UInt>.self))
    }

    // MARK: Reading

    /// Publishes an address in the next place. `false` when all are taken.
    ///
    /// What the reader looks at afterwards, it looks at after the address is published, for whoever has run
    /// ``HazardScan`` since.
    @inlinable
    package func publish(_ address: UInt) -> Bool {
        let depth = unsafe Int(bitPattern: word(Self.depthIndex).pointee.load(ordering: .relaxed))
        guard depth < Self.placeCount else { return false }
        unsafe word(depth).pointee.store(address, ordering: .relaxed)
        unsafe word(Self.depthIndex).pointee.store(UInt(bitPattern: depth + 1), ordering: .relaxed)
        pk_compiler_fence()
        return true
    }

    /// Puts another address in the place that was published last.
    @inlinable
    package func republish(_ address: UInt) {
        let depth = unsafe Int(bitPattern: word(Self.depthIndex).pointee.load(ordering: .relaxed))
        unsafe word(depth - 1).pointee.store(address, ordering: .releasing)
        pk_compiler_fence()
    }

    /// Empties the place that was published last. Returns whether a scan has counted the read: then the slot has a pin for
    /// it, to be given back.
    @inlinable
    package func withdraw(_ address: UInt) -> Bool {
        let depth = unsafe Int(bitPattern: word(Self.depthIndex).pointee.load(ordering: .relaxed)) - 1
        unsafe word(Self.depthIndex).pointee.store(UInt(bitPattern: depth), ordering: .relaxed)
        unsafe word(depth).pointee.store(0, ordering: .releasing)
        pk_compiler_fence()
        let claim = unsafe word(Self.claimIndex + depth).pointee.load(ordering: .relaxed)
        return claim == address && takeClaim(depth, address)
    }

    /// Takes the claim on a place away. `false` when the other side has.
    @usableFromInline
    func takeClaim(_ place: Int, _ address: UInt) -> Bool {
        unsafe word(Self.claimIndex + place).pointee.compareExchange(
            expected: address,
            desired: 0,
            ordering: .acquiringAndReleasing
        ).exchanged
    }

    // MARK: What a scan looks at

    /// What the reader publishes in a place; 0 nothing.
    func address(in place: Int) -> UInt { unsafe word(place).pointee.load(ordering: .acquiring) }

    /// The address for which a place has a claim; 0 for none.
    func claim(on place: Int) -> UInt { unsafe word(Self.claimIndex + place).pointee.load(ordering: .acquiring) }

    func setClaim(_ address: UInt, on place: Int) {
        unsafe word(Self.claimIndex + place).pointee.store(address, ordering: .releasing)
    }

    // MARK: Drawing

    /// Whether this read is the one in some hundreds after which a value is read without a count from then on.
    ///
    /// Drawn, so that what taking that back costs (some microseconds) is spread over as many reads, however values are
    /// read and written: the bound that BRAVO keeps by a clock (Dice and Kogan, ATC'19).
    @inlinable
    package static func draws() -> Bool {
        guard let own else { return join() }
        let left = unsafe own.word(drawIndex).pointee.load(ordering: .relaxed) &- 1
        unsafe own.word(drawIndex).pointee.store(left, ordering: .relaxed)
        return left & 0xFFFF == 0 && own.redraw(left)
    }

    /// The least and the most reads from one draw to the next.
    package static let drawRange: ClosedRange<UInt> = 129...384

    @usableFromInline
    func redraw(_ left: UInt) -> Bool {
        // The number of reads in the low 16 bits; above, Marsaglia's xorshift of 32 bits.
        var random = UInt32(truncatingIfNeeded: left >> 16)
        random ^= random << 13
        random ^= random >> 17
        random ^= random << 5
        let next = Self.drawRange.lowerBound + UInt(random) % UInt(Self.drawRange.count)
        unsafe word(Self.drawIndex).pointee.store(UInt(random) << 16 | next, ordering: .relaxed)
        return HazardScan.isPossible
    }

    // MARK: Threads come and go

    /// The newest of all records, 0 before there is one.
    private static let newest = Atomic<UInt>(0)

    /// All records there are, also those of no thread.
    static func forEach(_ body: (HazardRecord) -> Void) {
        var address = newest.load(ordering: .acquiring)
        while let words = unsafe UnsafeMutablePointer<Atomic<UInt>>(bitPattern: address) {
            let record = unsafe HazardRecord(words: words)
            body(record)
            address = unsafe record.word(nextIndex).pointee.load(ordering: .relaxed)
        }
    }

    /// Gives the calling thread a record, if values can be read so here. Always `false`: nothing is drawn by it.
    @usableFromInline
    static func join() -> Bool {
        guard HazardScan.isPossible else { return false }
        let record = spare() ?? make()
        let leave: @convention(c) (UnsafeMutableRawPointer?) -> Void = { words in
            guard let words = unsafe words?.assumingMemoryBound(to: Atomic<UInt>.self) else { return }
            unsafe HazardRecord(words: words).leave()
        }
        // The C library's own thread-local keys.
        if unsafe !pk_set_own_record(record.words, leave) { record.leave() }
        return false
    }

    private func leave() {
        // One that ends inside a read, as no Swift code does, leaves what it read where it is.
        guard unsafe word(Self.depthIndex).pointee.load(ordering: .relaxed) == 0 else { return }
        unsafe word(Self.takenIndex).pointee.store(0, ordering: .releasing)
    }

    private static func spare() -> HazardRecord? {
        var found: HazardRecord?
        forEach { record in
            guard found == nil else { return }
            let step = unsafe record.word(takenIndex).pointee.compareExchange(
                expected: 0,
                desired: 1,
                ordering: .acquiringAndReleasing
            )
            if step.exchanged { found = record }
        }
        return found
    }

    private static func make() -> HazardRecord {
        let words = unsafe UnsafeMutableRawPointer.allocate(byteCount: size * 8, alignment: 128)
            .bindMemory(to: Atomic<UInt>.self, capacity: size)
        for index in 0..<size { unsafe (words + index).initialize(to: Atomic(0)) }
        let record = unsafe HazardRecord(words: words)
        let address = UInt(bitPattern: words)
        unsafe record.word(takenIndex).pointee.store(1, ordering: .relaxed)
        // Another start for each thread; never 0, which xorshift would stay at.
        unsafe record.word(drawIndex).pointee.store((address >> 7 | 1) << 16 | drawRange.upperBound, ordering: .relaxed)
        // Its number is read there.
        var next = newest.load(ordering: .acquiring)
        while true {
            unsafe record.word(nextIndex).pointee.store(next, ordering: .relaxed)
            let number = unsafe UnsafeMutablePointer<Atomic<UInt>>(bitPattern: next)
                .map { unsafe HazardRecord(words: $0).number + 1 }
            unsafe record.word(numberIndex).pointee.store(number ?? 0, ordering: .relaxed)
            let step = newest.compareExchange(expected: next, desired: address, ordering: .acquiringAndReleasing)
            if step.exchanged { return record }
            next = step.original
        }
    }

    /// The record's number, from 0: that of a thread, among those that live.
    @inlinable package var number: UInt { unsafe word(Self.numberIndex).pointee.load(ordering: .relaxed) }
}
