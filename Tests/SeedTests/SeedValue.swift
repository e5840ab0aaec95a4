import Glibc
import PressureKit
import PressureKitTestSupport
import Synchronization

@testable import PressureKitTesting

/// Counts the bytes of values that are in memory, whoever holds them: not what the library says, but what there is.
final class LiveBytes: Sendable {
    private let count = Atomic<Int>(0)

    var bytes: Int { count.load(ordering: .relaxed) }
    func add(_ bytes: Int) { count.wrappingAdd(bytes, ordering: .relaxed) }

    /// Where values that are made from bytes find the counter: those of a process in a run have a number.
    static let counters = Lock<[Int32: LiveBytes]>([:])
}

/// What a value says of itself that is not so.
enum SeedLie: Int32, CaseIterable, Sendable {
    case none
    /// Its footprint is three times its bytes. A value may say so; it only has to say the same each time.
    case heavy
    /// It passes no bytes when it is to be written.
    case silent
    /// It passes half of the bytes it has said.
    case half
    /// It says that it has half of the bytes that it passes.
    case more

    /// Whether such a value can be written.
    var isWritable: Bool { self == .none || self == .heavy }
}

/// What a value is: whose, which version of it, and how much.
struct SeedContent: Hashable, Sendable {
    /// The process it belongs to, for ``LiveBytes``.
    var home: Int32
    /// Whose value it is.
    var owner: Int32
    var version: Int64
    var lie: SeedLie

    static let headerBytes = 32

    /// Sizes from a header alone to most of a chunk, most of them small. Several chunks are read by several threads, whose
    /// order is the machine's.
    private static let sizes = [
        32, 64, 700, 2000, 96, 9000, 300, 4096, 40, 400, 20_000, 120, 1000, 3000, 33, 5000, 12_000, 32, 8192, 200_000,
        60, 1500, 700, 2500,
    ]

    var byteCount: Int { Self.sizes[Int(version &* 7 &+ Int64(owner) &* 5) % Self.sizes.count] }

    var footprint: Int { lie == .heavy ? byteCount * 3 : byteCount }
}

/// Memory with a value in it, which is counted as long as it lives.
@safe final class SeedBlock: @unchecked Sendable {
    // Sendable and safe: written in `init` alone, and freed with the last reference.
    let bytes: UnsafeMutableRawBufferPointer
    let content: SeedContent
    private let live: LiveBytes?

    /// Every content's bytes are a part of these: three of eight bits at random, so that they compress, or all of them.
    private static let patterns = [makeBytes(300_000, seed: 1), makeBytes(300_000, seed: 2, randomBits: 8)]

    private static func withPattern<Result>(
        _ content: SeedContent,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let count = content.byteCount - SeedContent.headerBytes
        let start = Int(content.version &* 64 &+ Int64(content.owner)) % 20_000
        // `count` is less than 210,000; the array outlives the call.
        return unsafe patterns[content.version % 3 == 0 ? 1 : 0].withUnsafeBytes {
            unsafe body(UnsafeRawBufferPointer(rebasing: $0[start..<start + count]))
        }
    }

    init(_ content: SeedContent) {
        self.content = content
        unsafe bytes = .allocate(byteCount: content.byteCount, alignment: 16)
        unsafe bytes.storeBytes(of: content.home, toByteOffset: 0, as: Int32.self)
        unsafe bytes.storeBytes(of: content.owner, toByteOffset: 4, as: Int32.self)
        unsafe bytes.storeBytes(of: content.version, toByteOffset: 8, as: Int64.self)
        unsafe bytes.storeBytes(of: content.lie.rawValue, toByteOffset: 16, as: Int32.self)
        unsafe memset(bytes.baseAddress! + 20, 0, 12)
        let body = unsafe bytes.baseAddress! + 32
        unsafe Self.withPattern(content) { unsafe _ = memcpy(body, $0.baseAddress!, $0.count) }
        live = LiveBytes.counters.withLock { $0[content.home] }
        live?.add(content.footprint)
    }

    struct Unrecognisable: Error {}

    init(byteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        unsafe bytes = .allocate(byteCount: byteCount, alignment: 16)
        do {
            unsafe try fill(bytes)
            guard byteCount >= SeedContent.headerBytes,
                let lie = unsafe SeedLie(rawValue: bytes.load(fromByteOffset: 16, as: Int32.self))
            else { throw Unrecognisable() }
            content = unsafe SeedContent(
                home: bytes.load(fromByteOffset: 0, as: Int32.self),
                owner: bytes.load(fromByteOffset: 4, as: Int32.self),
                version: bytes.load(fromByteOffset: 8, as: Int64.self),
                lie: lie
            )
        } catch {
            unsafe bytes.deallocate()
            throw error
        }
        let home = content.home
        live = LiveBytes.counters.withLock { $0[home] }
        live?.add(content.footprint)
    }

    deinit {
        live?.add(-content.footprint)
        // So that who still reads it reads nonsense.
        unsafe memset(bytes.baseAddress!, 0xDD, min(bytes.count, 64))
        unsafe bytes.deallocate()
    }

    /// Whether the bytes are those of the content that the header speaks of.
    var isIntact: Bool {
        guard unsafe bytes.count == content.byteCount, content.version >= 0, content.owner >= 0 else { return false }
        let (home, owner, version) = unsafe (
            bytes.load(fromByteOffset: 0, as: Int32.self), bytes.load(fromByteOffset: 4, as: Int32.self),
            bytes.load(fromByteOffset: 8, as: Int64.self)
        )
        guard home == content.home, owner == content.owner, version == content.version else { return false }
        return unsafe Self.withPattern(content) {
            unsafe memcmp(bytes.baseAddress! + 32, $0.baseAddress!, $0.count) == 0
        }
    }
}

/// A value of a run, of one kind or another.
protocol SeedValue: Spillable {
    init(_ block: SeedBlock)
    var block: SeedBlock { get }
}

extension SeedValue {
    var footprint: Int { block.content.footprint }

    var spillByteCount: Int {
        unsafe block.content.lie == .more ? block.bytes.count / 2 : block.bytes.count
    }

    func withSpillBytes(_ body: (RawSpan) -> Void) {
        let count = unsafe block.content.lie == .half ? block.bytes.count / 2 : block.bytes.count
        guard block.content.lie != .silent else { return }
        // The block is held for as long as the call takes.
        unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: block.bytes[..<count])))
    }

    init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        self.init(unsafe try SeedBlock(byteCount: spillByteCount, restoringWith: fill))
    }
}

/// One whose bytes are passed where they lie.
struct Ballast: SeedValue {
    let block: SeedBlock
    init(_ block: SeedBlock) { self.block = block }
    static var spillsInPlace: Bool { true }
}

/// One whose bytes are made when it is written, piece by piece.
struct Written: SeedValue {
    let block: SeedBlock
    init(_ block: SeedBlock) { self.block = block }
    static var encodesWhenSpilled: Bool { true }

    func writeSpillBytes(to writer: SpillWriter) throws {
        var start = 0
        let count = unsafe block.content.lie == .half ? block.bytes.count / 2 : block.bytes.count
        guard block.content.lie != .silent else { throw SeedBlock.Unrecognisable() }
        while start < count {
            let end = min(start + 1000, count)
            // As in `withSpillBytes`.
            try unsafe writer.write(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: block.bytes[start..<end])))
            start = end
        }
    }
}

/// A key whose hash is the same in every process: a cache has its values in parts by hash, each with an order of its own.
struct SeedKey: Hashable, Sendable, LosslessStringConvertible {
    let number: Int

    init(_ number: Int) { self.number = number }

    init?(_ description: String) {
        guard let number = Int(description) else { return nil }
        self.number = number
    }

    var description: String { "\(number)" }

    /// The standard library's own hook for what hashes itself.
    func _rawHashValue(seed: Int) -> Int {
        Int(truncatingIfNeeded: (UInt64(number) &+ 1) &* 0x9E37_79B9_7F4A_7C15)
    }
}
