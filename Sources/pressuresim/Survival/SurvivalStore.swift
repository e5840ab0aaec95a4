import PressureKit

/// Where the demonstration keeps its values. Two threads use it at once.
protocol SurvivalStore: Sendable {
    /// Keeps the value for a key, made by `make`.
    func load(_ key: Int, make: (Int) -> PageBuffer) throws

    /// Passes the value for a key that was loaded.
    func read(_ key: Int, _ body: (PageBuffer) -> Bool) throws -> Bool
}

/// A dictionary, as a program without the library would have.
final class PlainStore: SurvivalStore {
    private let values = Lock<[Int: PageBuffer]>([:])

    func load(_ key: Int, make: (Int) -> PageBuffer) {
        let value = make(key)
        values.withLock { $0[key] = value }
    }

    func read(_ key: Int, _ body: (PageBuffer) -> Bool) throws -> Bool {
        guard let value = values.withLock({ $0[key] }) else { throw SurvivalLoss() }
        return body(value)
    }
}

/// The library's caches. Every other value has a loader; the rest are set, cannot be made again and have to be written
/// before they leave memory.
final class KitStore: SurvivalStore {
    let documents: KeyedCache<Int, PageBuffer>
    let tiles: KeyedCache<Int, PageBuffer>

    init(_ controller: PressureController, make: @escaping @Sendable (Int) -> PageBuffer) throws {
        documents = try controller.keyedCache("documents", key: Int.self, value: PageBuffer.self)
        tiles = try controller.keyedCache("tiles", loader: make)
    }

    /// Whether the library can make a value again.
    static func hasLoader(_ key: Int) -> Bool { !key.isMultiple(of: 2) }

    func load(_ key: Int, make: (Int) -> PageBuffer) throws {
        if Self.hasLoader(key) {
            try tiles.loadIfNeeded(for: key)
        } else {
            documents.set(make(key), for: key)
        }
    }

    func read(_ key: Int, _ body: (PageBuffer) -> Bool) throws -> Bool {
        try (Self.hasLoader(key) ? tiles : documents).withValue(for: key, body)
    }
}

/// A value that was there is there no more.
struct SurvivalLoss: Error, Hashable, CustomStringConvertible {
    var description: String { "it is gone" }
}
