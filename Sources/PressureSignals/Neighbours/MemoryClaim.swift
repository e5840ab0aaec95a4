import Glibc

/// What part of a shared room a process lays claim to, and how that moves. Pure.
///
/// Each process moves its own claim by what its readers wait for a byte of it, beside what those of all do: a replicator, whose
/// rest is where the next byte saves as much waiting everywhere, so that the sum of waiting is least. (Midas, NSDI'24, and
/// Memshare, ATC'17, move memory to whoever gains most likewise, by a daemon that knows all.) Who waits for nothing lets go,
/// slowly, until he waits too.
package enum MemoryClaim {
    /// The most by which the logarithm of a claim moves in a second. With a quarter of that a process that had become busy waited
    /// for five seconds (`pressuresim worth --kind busy4`); processes that are alike fare the same with both.
    static let pace = 1.0
    /// Claims stay within these: powers of two, which are the same once they were written to a board and read. A ten-thousandth was
    /// less there, and whoever had come to rest at it was as if he were not there.
    static let bounds = 0x1p-13...0x1p13

    /// A claim after some time.
    ///
    /// - Parameters:
    ///   - own: Nanoseconds a second that this process's readers wait for a byte that it holds, times its weight.
    ///   - mean: The same over all, by what they hold.
    package static func moved(_ claim: Double, own: Double, mean: Double, in time: Double) -> Double {
        guard time > 0, own + mean > 0 else { return claim }
        let pull = (own - mean) / (own + mean)
        let moved = claim * exp(pace * pull * min(time, 1))
        return bounded(moved)
    }

    /// The nearest claim that others take for one.
    static func bounded(_ claim: Double) -> Double { min(max(claim, bounds.lowerBound), bounds.upperBound) }
}
