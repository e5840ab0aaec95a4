import PressureKitTesting

@testable import PressureKit
@testable import SpillStore

extension FuzzTarget {
    /// Saved states. The first byte says what the others are: a whole file; a manifest, which gets the right checksum and
    /// trailer; or a manifest whose records get the right checksums too, so that the values behind them are read.
    static let state = FuzzTarget(name: "state") { bytes throws(FuzzFailure) in
        do {
            switch bytes.first {
            case UInt8(ascii: "f"): try read(file: Array(bytes.dropFirst()))
            case UInt8(ascii: "m"): try read(manifest: Array(bytes.dropFirst()), isMended: false)
            case UInt8(ascii: "r"): try read(manifest: Array(bytes.dropFirst()), isMended: true)
            default: break
            }
        } catch let failure as FuzzFailure {
            throw failure
        } catch {
            throw FuzzFailure(description: "\(error)")
        }
    }

    /// Units of frames before every manifest that is not a whole file: one frame that deflate has made, and bytes.
    private static let units = 2

    private static func read(file: [UInt8]) throws {
        let bench = try StateBench.shared.get()
        guard let checked = try bench.read(file) else { return }
        try check(checked.manifest, byteCount: file.count)
    }

    private static func read(manifest bytes: [UInt8], isMended: Bool) throws {
        var manifest: StateManifest
        do {
            manifest = try StateManifest(bytes[...], units: UInt32(units))
        } catch {
            return try hold(error.isDamage, "refused for another reason: \(error)")
        }
        try check(manifest, byteCount: bytes.count)
        let again = try StateManifest(manifest.encoded[...], units: UInt32(units))
        try hold(again == manifest, "written and read again: \(manifest)")

        let bench = try StateBench.shared.get()
        if isMended { manifest.root.mend { bench.checksum(of: $0) } }
        let encoded = isMended ? manifest.encoded : bytes
        let trailer = StateTrailer(units: UInt64(units), manifest: encoded).encoded
        guard let checked = try bench.read(bench.frames + encoded + trailer) else { return }
        try hold(checked.manifest == manifest, "read from the file it is another")
        try bench.apply(checked)
    }

    /// No more of anything than the bytes can hold.
    private static func check(_ manifest: StateManifest, byteCount: Int) throws {
        var (nodes, caches, values, records, items) = (0, 0, 0, 0, 0)
        func count(_ node: StateManifest.Node, depth: Int) throws(FuzzFailure) {
            try hold(depth < 1000, "a tree of \(depth) levels")
            nodes += 1
            caches += node.caches.count
            items += node.coder.items.count
            for value in node.caches.flatMap(\.values) {
                values += 1
                records += value.records.count
                let sum = value.records.reduce(0) { $0 + UInt64($1.plainLength) }
                try hold(sum == value.plainByteCount, "chunks of \(sum) bytes for a value of \(value.plainByteCount)")
                try hold(value.footprint <= 1 << 48, "a footprint of \(value.footprint)")
            }
            for child in node.children { try count(child, depth: depth + 1) }
        }
        try count(manifest.root, depth: 0)
        let least = 17 * nodes + 24 * caches + 22 * values + 25 * records + 6 * items
        try hold(
            least <= byteCount + 4,
            "\(nodes) nodes, \(values) values and \(records) records of \(byteCount) bytes"
        )
    }
}

extension StateRefusal {
    fileprivate var isDamage: Bool {
        if case .damaged = self { return true }
        return false
    }
}

extension StateManifest.Node {
    /// Gives each record the checksum of what lies where it points.
    fileprivate mutating func mend(_ checksum: (SpillRecord) -> UInt32) {
        for cache in caches.indices {
            for value in caches[cache].values.indices {
                caches[cache].values[value].records = caches[cache].values[value].records.map { record in
                    SpillRecord(
                        generation: record.generation,
                        unit: record.unit,
                        storedLength: record.storedLength,
                        plainLength: record.plainLength,
                        codec: record.codec,
                        checksum: checksum(record)
                    )
                }
            }
        }
        for child in children.indices { children[child].mend(checksum) }
    }
}

/// A directory of saved states in memory, and an app that they are applied to.
private final class StateBench: Sendable {
    static let shared = Result { try StateBench() }

    private let disk = InMemoryFileSystem()
    private let directory: StateDirectory
    /// What lies before a manifest.
    let frames: [UInt8]

    init() throws {
        directory = try StateDirectory("/var/tmp/state", fileSystem: disk)
        // A unit that deflate makes 5,000 bytes of, and one of other bytes.
        let encoder = try ChunkEncoder()
        let plain = (0..<5000).map { UInt8(truncatingIfNeeded: $0 / 50) }
        // The array's bytes are only used for the length of the call; so are the encoder's.
        let deflated = unsafe plain.withUnsafeBytes { unsafe Array(encoder.encode($0, .deflate).payload) }
        let padding = [UInt8](repeating: 0, count: ExtentAllocator.unitSize - deflated.count)
        frames = deflated + padding + (0..<ExtentAllocator.unitSize).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    }

    func checksum(of record: SpillRecord) -> UInt32 {
        let start = Int(record.unit) * ExtentAllocator.unitSize
        guard start < frames.count else { return 0 }
        return StateTrailer.checksum(frames[start..<min(start + Int(record.storedLength), frames.count)])
    }

    /// What a restorer makes of a file; `nil` when it refuses it.
    func read(_ file: [UInt8]) throws -> StateRestorer.Checked? {
        disk.setContents(file, named: directory.statePath)
        do {
            return try StateRestorer(place: directory).read()
        } catch {
            try hold(error.code == .stateRefused, "\(error)")
            return nil
        }
    }

    /// Applies it to an app, reads what the app has then, and evicts it.
    func apply(_ checked: StateRestorer.Checked) throws {
        var configuration = PressureConfiguration()
        configuration.sources = []
        configuration.isSequential = true
        configuration.workers = 1
        configuration.spillDirectory = "/var/tmp"
        configuration.freeSpaceFloor = .zero
        configuration.fileSystem = InMemoryFileSystem()
        let manager = try PressureManager(configuration: configuration)
        let controller = PressureController("app")
        try manager.root.addChild(controller)
        let one = try controller.cache("one", of: [UInt8].self)
        let tiles = try controller.keyedCache("tiles", key: Int.self, value: [UInt8].self)
        var application = StateApplication(file: checked.file, manager: nil)
        application.apply(checked.manifest.root, to: manager.root)
        // Values of other types than the caches have are not read.
        let failures = application.report.failures.filter { $0.code != .stateMismatch }
        try hold(failures.isEmpty, "\(failures)")
        _ = manager.snapshot().tiers
        for read in [{ try one.value() }, { try tiles.value(for: 0) }, { try tiles.value(for: 7) }]
            as [() throws -> [UInt8]]
        {
            do {
                try hold(try read().count <= 8 << 20, "a value of more than the frames can be")
            } catch let error as PressureError {
                let expected: [PressureError.Code] = [.restoreFailed, .damagedCopy, .noValue]
                try hold(expected.contains(error.code), "\(error)")
            }
        }
        controller.removeCache(one)
        controller.removeCache(tiles)
    }
}
