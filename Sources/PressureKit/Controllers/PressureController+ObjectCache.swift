public import PressureSystem

extension PressureController {
    /// A cache with the methods of `NSCache`, for objects that are set, and dropped when memory is short.
    ///
    /// - Parameters:
    ///   - name: What the cache is called in paths and reports.
    ///   - key: What objects are found by; can be left out where the compiler knows.
    ///   - object: What it holds, likewise.
    /// - Throws: ``PressureError`` with `duplicateIdentifier`, or with `invalidConfiguration` when the controller or the
    ///   manager lets nothing be dropped or kept.
    public func objectCache<Key: Hashable & Sendable, Object: Sendable>(
        _ name: String,
        key: Key.Type = Key.self,
        object: Object.Type = Object.self
    ) throws(PressureError) -> ObjectCache<Key, Object> {
        let path = path
        let entry = KeyedEntry<Key, CostedObject<Object>>(
            name: name,
            host: self,
            supported: [.keep, .drop],
            limit: nil,
            // Nobody asks for what is not there; that there is a loader says that objects may be dropped.
            loader: { _ in throw PressureError.noValue(path: "\(path)/\(name)") },
            dropsWhatWasSet: true
        )
        try register(entry)
        return ObjectCache(entry: entry)
    }

    /// Takes a cache of objects out of the tree, like any other cache.
    public func removeCache<Key, Object>(_ cache: ObjectCache<Key, Object>) { remove(cache.entry) }
}
