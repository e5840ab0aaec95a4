import CLinuxShims

/// A reference that is replaced now and then and read all the time, without a lock.
///
/// A reader says that it is reading, takes the object, and says that it has; an old one is let go of once nobody reads: when it is
/// replaced as a rule, else at the next ``sweep()``. (Hazard eras and epochs do the same for many objects; one
/// counter is enough for one.)
@safe package final class AtomicReference<Object: AnyObject & Sendable>: @unchecked Sendable {
    // Sendable and safe: both words are allocated with this, freed with it, and only touched by atomic operations; the address is
    // that of `kept.newest`, or of one of `kept.old` for those who read it before it was replaced.
    private let address: UnsafeMutablePointer<UInt64>
    private let readers: UnsafeMutablePointer<UInt64>

    private struct Kept {
        var newest: Object?
        var old: [Object] = []
    }

    private let kept: Lock<Kept>

    /// Refers to an object, or to none.
    package init(_ object: Object? = nil) {
        unsafe address = .allocate(capacity: 1)
        unsafe readers = .allocate(capacity: 1)
        unsafe address.initialize(to: Self.word(object))
        unsafe readers.initialize(to: 0)
        kept = Lock(Kept(newest: object))
    }

    deinit {
        unsafe address.deallocate()
        unsafe readers.deallocate()
    }

    /// The object. Waits for nobody.
    package var object: Object? {
        // Calls that the compiler cannot look into: the object is retained between the two.
        unsafe pk_add(readers, 1)
        defer { unsafe pk_subtract(readers, 1) }
        guard let found = unsafe UnsafeRawPointer(bitPattern: UInt(pk_load(address))) else { return nil }
        let object = unsafe Unmanaged<Object>.fromOpaque(found)
        unsafe _ = object.retain()
        return unsafe object.takeRetainedValue()
    }

    /// Refers to another one from now on. Waits for whoever else replaces it, and for no reader.
    package func store(_ object: Object?) {
        kept.withLock { kept in
            if let old = kept.newest { kept.old.append(old) }
            kept.newest = object
            unsafe pk_store(address, Self.word(object))
        }
        sweep()
    }

    /// Lets go of what was replaced, unless somebody is reading now.
    package func sweep() {
        let unread = kept.withLock { kept -> [Object] in
            // Who begins to read from here on finds the newest.
            guard !kept.old.isEmpty, unsafe pk_load(readers) == 0 else { return [] }
            defer { kept.old = [] }
            return kept.old
        }
        // With nothing locked: a `deinit` may do anything.
        withExtendedLifetime(unread) {}
    }

    private static func word(_ object: Object?) -> UInt64 {
        object.map { unsafe UInt64(UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque())) } ?? 0
    }
}
