import Synchronization

/// A cache with the methods of Foundation's `NSCache`, whose objects leave when memory is short.
///
/// ```swift
/// let images: ObjectCache<String, Image> = try gallery.objectCache("images")
/// images.setObject(image, forKey: path, cost: image.byteCount)
/// let image = images.object(forKey: path) ?? decode(path)
/// ```
///
/// For programs that have an `NSCache` and are to keep their shape. An object is dropped, never written: it is gone for the
/// next ``object(forKey:)``, and lives on with whoever still has it. Which objects go first, and how many, the manager
/// decides, as among all its caches. Where objects cost much to make again, a ``KeyedCache`` does more: it knows the loader,
/// and what loading costs.
///
/// All methods may be called on any thread, and inside hooks.
public final class ObjectCache<Key: Hashable & Sendable, Object: Sendable>: Sendable {
    let entry: KeyedEntry<Key, CostedObject<Object>>

    init(entry: KeyedEntry<Key, CostedObject<Object>>) { self.entry = entry }

    /// The name that the cache was made with.
    public var name: String { entry.name }

    /// The object for `key`, or `nil` if there is none: it was never set, was removed, or has left. That is no failure.
    /// Does not block.
    public func object(forKey key: Key) -> Object? {
        if let reading = entry.readIfResident(key) {
            defer { entry.end(reading) }
            return unsafe reading.value.pointee.object
        }
        // Nothing here is ever restored, so that nothing throws; who sets the object now is done in a moment.
        guard let slot = (try? entry.acquireKept(key)) ?? nil else { return nil }
        defer { entry.release(slot) }
        return unsafe slot.value.pointee.object
    }

    /// Puts an object in place of the one for `key`, if any.
    ///
    /// When that leaves too little memory, the calling thread waits until some is freed, as ``KeyedCache/set(_:for:)`` does.
    ///
    /// - Parameters:
    ///   - object: What to keep.
    ///   - key: What it is found by.
    ///   - cost: The bytes of memory that it takes, for ``totalCostLimit`` and for the manager, which frees as many as are
    ///     needed. With 0, a small object is assumed: 64 bytes, or its own size without what it refers to.
    public func setObject(_ object: Object, forKey key: Key, cost: Int = 0) {
        let costed = CostedObject(object, cost: cost)
        let size = ValueSize(costed)
        entry.replace(key, with: costed, size)
        entry.waitForRoom(after: size.footprint)
    }

    /// Removes the object for `key`, if there is one.
    public func removeObject(forKey key: Key) { entry.replace(key, with: nil, nil) }

    /// Removes all objects. What others set meanwhile may stay.
    public func removeAllObjects() { entry.removeAll() }

    /// The most objects the cache keeps on its own, without any pressure; 0 for no limit. A lower one has effect at once.
    public var countLimit: Int {
        get { Self.limit(entry.countLimit) }
        set {
            entry.countLimit.store(newValue > 0 ? newValue : .max, ordering: .relaxed)
            entry.enforceLimit()
        }
    }

    /// The most that the objects' costs may sum up to, in bytes, likewise.
    public var totalCostLimit: Int {
        get { Self.limit(entry.limit) }
        set {
            entry.limit.store(newValue > 0 ? newValue : .max, ordering: .relaxed)
            entry.enforceLimit()
        }
    }

    private static func limit(_ limit: borrowing Atomic<Int>) -> Int {
        let limit = limit.load(ordering: .relaxed)
        return limit == .max ? 0 : limit
    }
}

/// An object and what it is said to cost. It has no bytes to write, so that it is dropped or stays.
struct CostedObject<Object: Sendable>: Spillable {
    let object: Object
    let footprint: Int

    init(_ object: Object, cost: Int) {
        self.object = object
        footprint = cost > 0 ? cost : Self.assumed
    }

    /// What is taken for the cost of one of which nobody says it: a small object, which is most of them.
    private static var assumed: Int { max(64, MemoryLayout<Object>.stride) }

    var spillByteCount: Int { 0 }

    func withSpillBytes(_ body: (RawSpan) -> Void) {}

    init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        preconditionFailure("an object was never written")
    }
}
