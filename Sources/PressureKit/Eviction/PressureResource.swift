import PressureSystem

/// A cache as the hooks and reports name it, whatever the type of its value.
public struct PressureResource: Sendable {
    let entry: CacheEntry

    package init(entry: CacheEntry) { self.entry = entry }

    /// The name it was registered with.
    public var name: String { entry.name }

    /// Where it is in the tree of controllers, such as `"gallery/thumbnails"`.
    public var path: String { entry.path }

    /// The bytes that evicting its value gives back.
    public var byteCount: ByteCount { ByteCount(bytes: entry.footprint) }

    /// Where its value is at this moment.
    public var residency: Residency { entry.residency }

    /// Whether the app can make the value again.
    public var hasLoader: Bool { entry.hasLoader }
}

extension PressureResource: Hashable {
    /// Whether both name the same cache.
    public static func == (left: PressureResource, right: PressureResource) -> Bool { left.entry === right.entry }

    /// Hashes the identity of the cache.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(entry)) }
}

extension PressureResource: CustomStringConvertible {
    /// Its path.
    public var description: String { path }
}
