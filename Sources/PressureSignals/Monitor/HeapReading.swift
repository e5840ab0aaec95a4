/// What is free in a process's heap and in memory nevertheless, in bytes.
package struct HeapReading: Hashable, Sendable, BitwiseCopyable {
    /// What the next values find there: less what was free when it was read last than values have taken since. Negative if that is
    /// less than the rest of the process had in use a moment ago.
    package var usable = 0
    /// What can be given back to the system at once, with what values are likely to have left there since.
    package var reclaimable = 0
    /// Whether giving it back brings much: the system got at least half of it last time.
    package var yieldsMuch = true
    /// How long giving it back took lately.
    package var giving = Duration.zero
    /// How long it takes to find the values that are to leave.
    package var leaving = Duration.zero

    /// Nothing, unless it is said.
    package init(
        usable: Int = 0,
        reclaimable: Int = 0,
        yieldsMuch: Bool = true,
        giving: Duration = .zero,
        leaving: Duration = .zero
    ) {
        self.usable = usable
        self.reclaimable = reclaimable
        self.yieldsMuch = yieldsMuch
        self.giving = giving
        self.leaving = leaving
    }
}
