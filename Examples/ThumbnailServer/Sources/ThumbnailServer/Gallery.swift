import Hummingbird
import PressureKit
import Synchronization

/// Where decoded pictures are kept.
protocol Gallery: Sendable {
    /// A thumbnail of a picture, which is decoded first if it is not there.
    func thumbnail(_ id: Int, size: Int) async throws -> [UInt8]

    /// What there is to say of it, a line each.
    func status() -> [String]
}

/// A dictionary, as it would be without PressureKit: it grows until nothing is left to grow into.
final class PlainGallery: Gallery {
    private let album: Album
    private let pictures = Mutex<[Int: Picture]>([:])

    init(_ album: Album) { self.album = album }

    func thumbnail(_ id: Int, size: Int) async throws -> [UInt8] {
        if let picture = pictures.withLock({ $0[id] }) { return picture.thumbnail(size: size) }
        let picture = try QOI.decode(album.read(id))
        pictures.withLock { $0[id] = picture }
        return picture.thumbnail(size: size)
    }

    func status() -> [String] { ["pictures \(pictures.withLock { $0.count })"] }
}

/// A cache with a bound, as it would be with care: the pictures read last, up to a number of bytes that somebody chose.
final class BoundedGallery: Gallery {
    private let album: Album
    private let pictures: Mutex<LRU<Int, Picture>>

    init(_ album: Album, byteLimit: Int) {
        self.album = album
        pictures = Mutex(LRU(costLimit: byteLimit))
    }

    func thumbnail(_ id: Int, size: Int) async throws -> [UInt8] {
        if let picture = pictures.withLock({ $0.value(for: id) }) { return picture.thumbnail(size: size) }
        let picture = try QOI.decode(album.read(id))
        pictures.withLock { $0.insert(picture, for: id, cost: picture.footprint) }
        return picture.thumbnail(size: size)
    }

    func status() -> [String] {
        pictures.withLock { ["pictures \($0.count)", "hits \($0.hits)", "misses \($0.misses)"] }
    }
}

/// A keyed cache: as much in memory as there is room for, the rest in the spill file, or decoded again.
final class PressureGallery: Gallery {
    let manager: PressureManager
    private let pictures: KeyedCache<Int, Picture>

    init(_ album: Album) throws {
        manager = try PressureManager()
        let controller = PressureController("gallery")
        try manager.root.addChild(controller)
        pictures = try controller.keyedCache("pictures") { id in try QOI.decode(album.read(id)) }
    }

    func thumbnail(_ id: Int, size: Int) async throws -> [UInt8] {
        // In memory until the lease ends, whatever happens meanwhile.
        let lease = try await pictures.lease(for: id)
        return lease.value.thumbnail(size: size)
    }

    func status() -> [String] {
        let (snapshot, counts) = (manager.snapshot(), pictures.statistics)
        return [
            "level \(snapshot.level)",
            "resident \(snapshot.resident)",
            "spilled \(snapshot.spilled)",
            "hits \(counts.hits)",
            "loads \(counts.loads)",
            "restores \(counts.restores)",
            "evictions \(counts.evictions)",
            "failures \(counts.failures)",
        ]
    }
}
