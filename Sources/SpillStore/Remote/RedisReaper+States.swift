#if Redis
package import PressureSystem
import SystemPackage

extension RedisReaper {
    /// A saved state, or what is left of one.
    package struct SavedState: Hashable, Sendable {
        package var name: String
        /// Bytes of the state; 0 where there is none, only what was begun.
        package var bytes = 0
        /// Bytes of generations that are not the state: one that is being written or was given up, or an earlier one that is
        /// still read. They have leases.
        package var otherBytes = 0
        /// Who saved it; `nil` where there is none.
        package var host: String?
        package var pid: Int?
        /// Seconds since it was saved, by the server's clock.
        package var age: Int?
        /// Milliseconds until it, or the last of what is left, goes by itself; `nil` for what does not.
        package var left: Int? = 0
        /// Who saves or restores it, or reads restored values there; `nil` for nobody.
        package var holder: String?
    }

    /// All saved states, by name.
    ///
    /// - Throws: ``PressureError`` with code `serverUnusable`.
    package func states() throws(PressureError) -> [SavedState] {
        try attempt { () throws(RedisFailure) in try lookForStates().map(\.state) }
    }

    /// Deletes what belongs to no state and would stay for ever; with `all`, everything, states that could still be restored
    /// too. What has a time or a lease is left alone otherwise: it goes by itself.
    ///
    /// - Returns: those of which something was deleted, with the bytes that were.
    /// - Throws: ``PressureError`` with code `serverUnusable`.
    package func sweepStates(all: Bool) throws(PressureError) -> [SavedState] {
        try attempt { () throws(RedisFailure) in
            var swept: [SavedState] = []
            for found in try lookForStates() {
                let names = all ? found.names : found.garbage.map(\.name)
                guard !names.isEmpty else { continue }
                try found.node.unlink(names)
                var state = found.state
                if !all {
                    state.bytes = 0
                    state.otherBytes = found.garbage.reduce(0) { $0 + $1.bytes }
                    state.left = nil
                }
                swept.append(state)
            }
            return swept
        }
    }

    private struct FoundState {
        var state: SavedState
        /// The server that has it.
        let node: RedisConnection
        var generation: String?
        var names: [String] = []
        /// What belongs to no state and has no lease.
        var garbage: [(name: String, bytes: Int)] = []
    }

    private func lookForStates() throws(RedisFailure) -> [FoundState] {
        var found: [FoundState] = []
        for node in try nodes() { found += try lookForStates(on: node) }
        return found.sorted { $0.state.name < $1.state.name }
    }

    private func lookForStates(on connection: RedisConnection) throws(RedisFailure) -> [FoundState] {
        let now = try connection.time()
        // A scan may name a key twice.
        var parts: [String: [String: RedisStateKeys.Part]] = [:]
        var cursor = "0"
        repeat {
            let request = ["SCAN", cursor, "MATCH", RedisStateKeys.pattern(prefix: keyPrefix), "COUNT", "1000"]
            guard let page = try connection.ask(request).page else { throw .nonsense }
            for name in page.found {
                guard let (keys, part) = RedisStateKeys.parse(name, prefix: keyPrefix) else { continue }
                parts[keys.name, default: [:]][name] = part
            }
            cursor = page.cursor
        } while cursor != "0"
        var found: [FoundState] = []
        for (name, keys) in parts {
            var state = try describe(name, at: now, on: connection)
            try measure(keys, &state, on: connection)
            found.append(state)
        }
        return found
    }

    private func describe(
        _ name: String,
        at now: Int,
        on connection: RedisConnection
    ) throws(RedisFailure) -> FoundState {
        let keys = RedisStateKeys(prefix: keyPrefix, name: name)
        var state = SavedState(name: name)
        let record = RedisStateRecord(
            try connection.ask(["HMGET", keys.record] + RedisStateRecord.fields).list ?? []
        )
        if let record {
            state.bytes = record.bytes
            state.host = record.host
            state.pid = record.pid
            state.age = max(0, now - record.saved)
        }
        if let holder = try connection.ask(["GET", keys.lock]).text { state.holder = RedisStateOwner.name(holder) }
        return FoundState(state: state, node: connection, generation: record?.generation)
    }

    /// Adds up lengths and times of a state's keys.
    private func measure(
        _ keys: [String: RedisStateKeys.Part],
        _ found: inout FoundState,
        on connection: RedisConnection
    ) throws(RedisFailure) {
        let sorted = keys.sorted { $0.key < $1.key }
        for (name, part) in sorted {
            try connection.append(["PTTL", name])
            if case .segment = part { try connection.append(["STRLEN", name]) }
        }
        var numbers: [Int] = []
        try connection.exchange { _, answer throws(RedisFailure) in
            guard let number = answer.integer else { throw .nonsense }
            numbers.append(number)
        }
        var next = numbers.makeIterator()
        for (name, part) in sorted {
            // -2: gone meanwhile. -1: it has none.
            let left = next.next() ?? -2
            var isTelling = part == .record
            if case .segment(let generation) = part {
                let length = next.next() ?? 0
                if generation != found.generation {
                    found.state.otherBytes += length
                    if left == -1 { found.garbage.append((name, length)) }
                    isTelling = found.generation == nil
                }
            }
            if left != -2 { found.names.append(name) }
            // The record's time is the state's; without one, that of what is left.
            guard isTelling, left != -2 else { continue }
            found.state.left = left == -1 ? nil : found.state.left.map { max($0, left) }
        }
    }
}
#endif
