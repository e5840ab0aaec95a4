public import Synchronization

/// A read under way: the slot whose value stays where it is until it ends, and what keeps it there.
@safe @usableFromInline
struct ReadAccess<Value> {
    // Safe: made by `read`, ended once, by the thread that made it.
    @usableFromInline let slot: Slot<Value>
    /// The hazard pointers of this thread, of which the last names the slot; `nil` for a read with a pin.
    @usableFromInline let hazard: HazardRecord?

    @inlinable
    init(slot: Slot<Value>, hazard: HazardRecord? = nil) {
        self.slot = slot
        self.hazard = hazard
    }

    /// The value.
    @inlinable var value: UnsafeMutablePointer<Value> { unsafe slot.value }
}

/// Reads within one call, which begin and end on one thread, one inside the other: what is read often is read without a
/// write to anything that other threads write.
extension ValueEntry {
    /// Begins to read a slot's value if it is there and nobody is at work on it. Never waits.
    @inlinable
    func read(_ slot: Slot<Value>) -> ReadAccess<Value>? {
        guard unsafe slot.header.pointee.bias.isBiased, let own = HazardRecord.own, own.publish(slot.address) else {
            return pinToRead(slot)
        }
        // Again, now that it is published.
        let word = unsafe ResidencyWord(rawValue: slot.header.pointee.word.load(ordering: .acquiring))
        return word.isBiased(noted: UseClock.now) ? ReadAccess(slot: slot, hazard: own) : visit(slot, own)
    }

    /// The same, by a thread that has published something else, which it needs no longer.
    @inlinable
    func read(_ slot: Slot<Value>, publishedBy own: HazardRecord, inPlaceOf address: UInt) -> ReadAccess<Value>? {
        guard unsafe slot.header.pointee.bias.isBiased else {
            _ = own.withdraw(address)
            return pinToRead(slot)
        }
        own.republish(slot.address)
        let word = unsafe ResidencyWord(rawValue: slot.header.pointee.word.load(ordering: .acquiring))
        return word.isBiased(noted: UseClock.now) ? ReadAccess(slot: slot, hazard: own) : visit(slot, own)
    }

    /// Notes the use of a published slot, or reads it with a pin after all.
    @usableFromInline
    func visit(_ slot: Slot<Value>, _ own: HazardRecord) -> ReadAccess<Value>? {
        if unsafe slot.header.pointee.apply({ $0.visiting(stamp: UseClock.now) }) != nil {
            return ReadAccess(slot: slot, hazard: own)
        }
        end(ReadAccess(slot: slot, hazard: own))
        return pinToRead(slot)
    }

    @inlinable
    func pinToRead(_ slot: Slot<Value>) -> ReadAccess<Value>? {
        guard slot.pin() else { return nil }
        // Pinned, so that it is this value's slot.
        if HazardRecord.draws() { bias(slot) }
        return ReadAccess(slot: slot)
    }

    @usableFromInline
    func bias(_ slot: Slot<Value>) { unsafe _ = slot.header.pointee.apply { $0.biasing() } }

    /// Ends a read.
    @inlinable
    func end(_ reading: ReadAccess<Value>) {
        guard let hazard = reading.hazard else { return release(reading.slot) }
        // Counted meanwhile, by whoever wants to take the value away.
        if hazard.withdraw(reading.slot.address) { release(reading.slot) }
    }
}
