/// In which order values leave memory. A name: the library has the orders, and this module does not need it.
package enum PolicySpec: Hashable, Sendable, CaseIterable {
    case costAware, leastRecentlyUsed, sieve, largestFirst, smallestFirst, everything

    /// By the names that reports have for them.
    static var form: Form<PolicySpec> {
        .word([
            .init("cost", .costAware, "What costs least to bring back for each byte freed; the default."),
            .init("lru", .leastRecentlyUsed, "The least recently used first."),
            .init("sieve", .sieve, "SIEVE: the oldest that was not used since the last look."),
            .init("largest", .largestFirst, "The largest first."),
            .init("nscache", .smallestFirst, "The smallest first: the order of NSCache on Linux."),
            .init("purge", .everything, "All of them at every warning."),
        ])
    }
}
