/// The decision for one chunk, of what is remembered and what was measured.
package struct CodecChoice: Sendable, Equatable {
    /// What a copy is made for.
    package enum Purpose: Sendable {
        /// Memory is short: the sooner it is in the file the better.
        case reclaim
        /// A full cache trades values: nobody waits, but whatever takes a processor slows everybody down.
        case trade
        /// Nothing waits: a smaller copy is worth the codec's time.
        case background
    }

    /// What to ask of the encoder.
    package var request: CompressionChoice
    /// Whether it is a makeshift: stored to save time, to be compressed in idle time.
    package var isProvisional = false

    /// Creates a choice.
    package init(request: CompressionChoice, isProvisional: Bool = false) {
        self.request = request
        self.isProvisional = isProvisional
    }

    /// What to do with the next chunk of a cache, whose copies have such an outlook. Counts in both; allocates nothing.
    package static func next(
        _ memory: inout CodecMemory,
        _ rates: inout CodecRates,
        for purpose: Purpose,
        _ outlook: RestoreOutlook = .none
    ) -> CodecChoice {
        guard memory.triesNext() else { return CodecChoice(request: .stored) }
        guard purpose != .background,
            rates.shouldStoreFirst(ratio: memory.ratio, outlook, isAwaited: purpose == .reclaim)
        else { return CodecChoice(request: .adaptive) }
        return CodecChoice(request: .stored, isProvisional: true)
    }

    /// Notes what came of it.
    package static func note(_ cost: ChunkCost, _ memory: inout CodecMemory, _ rates: inout CodecRates) {
        rates.note(cost)
        guard cost.isTried else { return }
        memory.note(plainBytes: cost.plainBytes, storedBytes: cost.storedBytes, isCompressed: cost.codec != .stored)
    }
}
