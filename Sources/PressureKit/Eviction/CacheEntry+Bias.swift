import Synchronization

/// Taking the bias from values that are to be changed, replaced or evicted.
extension CacheEntry {
    /// Has every read of a slot's value counted from now on, those under way too. Does nothing where they are.
    ///
    /// Takes a few microseconds, with nothing locked; waits for no reader.
    ///
    /// - Returns: whether the value was biased. Others may have biased it again by now.
    @discardableResult
    func revokeBias(_ slot: UnsafeMutableRawPointer) -> Bool {
        guard unsafe header(slot).pointee.state.isBiased else { return false }
        guard unsafe header(slot).pointee.apply({ $0.revokingBias() }) != nil else { return false }
        unsafe countReaders(of: slot)
        return true
    }

    /// Ends what ``ResidencyWord/revokingBias()`` began, with nothing locked.
    func countReaders(of slot: UnsafeMutableRawPointer) {
        var slot = unsafe slot
        let isKnown = unsafe withUnsafePointer(to: &slot) {
            unsafe HazardScan.count(readersOf: UnsafeBufferPointer(start: $0, count: 1))
        }
        if isKnown { unsafe giveBack(slot) }
    }

    /// Gives a pin back.
    func giveBack(_ slot: UnsafeMutableRawPointer) {
        if unsafe header(slot).pointee.unpin() { unsafe recycle(slot) }
    }
}
