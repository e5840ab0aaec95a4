import Glibc
import PressureSystem

/// How a digest gets hold of a value for a moment.
enum DigestHold {
    /// It is in memory, and pinned.
    case pinned
    /// It is elsewhere, and its restore has begun: nobody else touches the copy.
    case away
    /// There is none.
    case missing
    /// Somebody is at work on it.
    case busy
}

extension ValueEntry {
    /// Gets hold of the value in a slot, if there is one.
    func hold(_ slot: Slot<Value>) -> DigestHold {
        if slot.pin() { return .pinned }
        if unsafe slot.header.pointee.apply({ $0.beginningRestore() }) != nil { return .away }
        return unsafe slot.header.pointee.state.phase == .unloaded ? .missing : .busy
    }

    /// The digest of the value that `find` gets hold of; `nil` when there is none, or its copy cannot be read, or it
    /// cannot be encoded. Blocks.
    func digest(finding find: () -> (slot: Slot<Value>, hold: DigestHold)?) -> ValueDigest? {
        while let (slot, hold) = find() {
            switch hold {
            case .pinned:
                defer { release(slot) }
                return digestPinned(slot)
            case .away:
                defer { endHolding(slot) }
                let plainByteCount = unsafe plainByteCount(slot.base)
                // The copy is this thread's while it restores, and is left as it was found.
                let value = unsafe try? slot.copy.pointee.restore(Value.self, plainByteCount: plainByteCount)
                return value.flatMap { digest(of: $0, in: slot) }
            case .missing: return nil
            case .busy: sched_yield()
            }
        }
        return nil
    }

    /// The digest of a value that this thread has pinned.
    func digestPinned(_ slot: Slot<Value>) -> ValueDigest? {
        // Pinned: it is there and nobody changes it.
        unsafe digest(of: slot.value.pointee, in: slot)
    }

    /// Runs async work and blocks the calling thread, which is not the cooperative pool's, until it has ended.
    func blocking(_ work: @escaping @Sendable () async throws -> Slot<Value>) throws -> Slot<Value> {
        let result = ConditionLock<Result<Slot<Value>, any Error>?>(nil)
        Task {
            let made: Result<Slot<Value>, any Error>
            do { made = .success(try await work()) } catch { made = .failure(error) }
            result.withLock { $0 = made }
        }
        return try result.wait { $0 }.get()
    }

    private func digest(of value: borrowing Value, in slot: Slot<Value>) -> ValueDigest? {
        let variant = unsafe slot.header.pointee.loadedVariant
        if Value.encodesWhenSpilled { return encodedDigest(of: value, variant) }
        var digest: ValueDigest?
        value.withSpillBytes { digest = ValueDigest($0, variant: variant) }
        return digest
    }

    /// The same where the bytes have to be made.
    private func encodedDigest(of value: borrowing Value, _ variant: CacheVariant) -> ValueDigest? {
        var digest = ValueDigest(variant: variant)
        // As long as this call.
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { unsafe piece.deallocate() }
        let writer = unsafe SpillWriter(piece: piece) { unsafe digest.add($0) }
        do {
            try value.writeSpillBytes(to: writer)
            try writer.finish()
        } catch {
            return nil
        }
        return digest
    }

    /// Ends a restore that put nothing in place: the copy is left as it was found.
    func endHolding(_ slot: Slot<Value>) {
        guard let step = unsafe slot.header.pointee.apply({ $0.failingRestore() }) else {
            // It was replaced meanwhile.
            return release(slot)
        }
        unsafe wake(slot.base, after: step.before)
    }
}

extension LazyEntry {
    /// The value, if there is one.
    func digestedValue() throws -> [DigestedValue] {
        guard residency != .unloaded, let digest = try digest() else { return [] }
        return [DigestedValue(path: path, digest: digest) { try self.digest() }]
    }

    private func digest() throws -> ValueDigest? {
        let found = digest {
            let current = self.slot
            return (current, hold(current))
        }
        if let found { return found }
        // As its readers get it: made by the loader, or the error that says why not.
        let slot = suspendingLoader == nil ? try acquire() : try blocking { try await self.acquire() }
        defer { release(slot) }
        return digestPinned(slot)
    }
}

extension KeyedEntry {
    /// All values there are.
    func digestedValuesByKey() throws -> [DigestedValue] {
        try keys.compactMap { key in
            guard residency(of: key) != .unloaded, let digest = try digest(of: key) else { return nil }
            return DigestedValue(path: "\(path)[\(key)]", digest: digest) { try self.digest(of: key) }
        }
    }

    private func digest(of key: Key) throws -> ValueDigest? {
        let hash = hash(key)
        let found = digest {
            // Got hold of under the lock, or the slot might be another key's by then.
            unsafe shards.shard(of: hash).pointee.withLock { shard in
                shard.index(of: key, hash).map { (shard.place($0).slot, hold(shard.place($0).slot)) }
            }
        }
        if let found { return found }
        let slot = suspendingLoader == nil ? try acquire(key) : try blocking { try await self.acquire(key) }
        defer { release(slot) }
        return digestPinned(slot)
    }
}
