import SpillStore
import SystemPackage

/// The last 40 bytes of a saved state, little-endian, which say where its manifest is:
///
/// | offset | bytes | what |
/// |---|---|---|
/// | 0 | 4 | magic, `"PKst"` |
/// | 4 | 4 | version of the format, 2 |
/// | 8 | 8 | units of 4 KiB that the frames before the manifest take |
/// | 16 | 8 | bytes of the manifest, which lies between the frames and this |
/// | 24 | 4 | CRC-32 of the manifest |
/// | 28 | 4 | zero |
/// | 32 | 4 | CRC-32 of the 32 bytes above |
/// | 36 | 4 | magic again, `"PKst"`: the file was not cut |
///
/// Pure.
struct StateTrailer: Hashable {
    static let byteCount = 40
    static let magic: UInt32 = 0x7473_4B50
    /// 1 had no layouts of elements: what is read as it lies in memory could not be told from what lies differently.
    static let version: UInt32 = 2
    /// No manifest is longer: room for some five million values. It is read whole, and a sparse file can claim any length.
    static let mostManifestBytes: UInt64 = 512 << 20

    var units: UInt64
    var manifestLength: UInt64
    var manifestChecksum: UInt32
    var version = Self.version

    var encoded: [UInt8] {
        var writer = StateWriter()
        writer.write(Self.magic)
        writer.write(version)
        writer.write(units)
        writer.write(manifestLength)
        writer.write(manifestChecksum)
        writer.write(UInt32(0))
        writer.write(Self.checksum(writer.bytes[...]))
        writer.write(Self.magic)
        return writer.bytes
    }

    init(units: UInt64, manifest: [UInt8]) {
        self.units = units
        manifestLength = UInt64(manifest.count)
        manifestChecksum = Self.checksum(manifest[...])
    }

    /// Reads the trailer of a file of `size` bytes.
    init(_ bytes: [UInt8], ofFileWith size: UInt64) throws(StateRefusal) {
        var reader = StateReader(bytes[...])
        guard try reader.read(UInt32.self) == Self.magic else { throw .foreign }
        version = try reader.read(UInt32.self)
        units = try reader.read(UInt64.self)
        manifestLength = try reader.read(UInt64.self)
        manifestChecksum = try reader.read(UInt32.self)
        _ = try reader.read(UInt32.self)
        let sum = try reader.read(UInt32.self)
        guard sum == Self.checksum(bytes[..<32]), try reader.read(UInt32.self) == Self.magic else {
            throw .damaged("its last bytes are not the ones written")
        }
        // A later format may mean anything by the rest.
        guard version <= Self.version else { throw .future(version) }
        guard version == Self.version else { throw .past(version) }
        guard manifestLength <= Self.mostManifestBytes else { throw .damaged("its manifest is too long") }
        guard units <= UInt64(UInt32.max), manifestLength <= size,
            units * UInt64(ExtentAllocator.unitSize) + manifestLength + UInt64(Self.byteCount) == size
        else { throw .damaged("its length is not the one written") }
    }

    static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        // Valid for the call.
        unsafe bytes.withUnsafeBytes { unsafe Checksum.crc32($0) }
    }
}
