import PressureKit

/// A decoded picture: its size in the first eight bytes, then four bytes a pixel, in pages of their own.
///
/// The size is among the bytes so that they are all there is to spill: a picture is written from where it lies, and read
/// back to where it will stay.
struct Picture: Sendable {
    private static let headerSize = 8
    private var bytes: PageBuffer

    /// A picture whose pixels `draw` sets, row by row, red, green, blue and opacity.
    init(width: Int, height: Int, draw: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows {
        bytes = PageBuffer(byteCount: Self.headerSize + width * height * 4)
        try bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: UInt32(width), toByteOffset: 0, as: UInt32.self)
            bytes.storeBytes(of: UInt32(height), toByteOffset: 4, as: UInt32.self)
            try draw(UnsafeMutableRawBufferPointer(rebasing: bytes[Self.headerSize...]))
        }
    }

    var width: Int { bytes.withUnsafeBytes { Int($0.load(fromByteOffset: 0, as: UInt32.self)) } }
    var height: Int { bytes.withUnsafeBytes { Int($0.load(fromByteOffset: 4, as: UInt32.self)) } }

    /// Passes the pixels to `body`.
    func withPixels<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[Self.headerSize...])) }
    }
}

extension Picture: Spillable {
    var spillByteCount: Int { bytes.spillByteCount }
    var footprint: Int { bytes.footprint }
    func withSpillBytes(_ body: (RawSpan) -> Void) { bytes.withSpillBytes(body) }

    init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        bytes = try PageBuffer(spillByteCount: spillByteCount, restoringWith: fill)
    }

    static var spillsInPlace: Bool { true }
}

extension Picture {
    /// A thumbnail of `size` by `size` pixels as a portable pixmap: each pixel the mean of those it stands for.
    func thumbnail(size: Int) -> [UInt8] {
        var output = Array("P6 \(size) \(size) 255\n".utf8)
        output.reserveCapacity(output.count + size * size * 3)
        let (width, height) = (width, height)
        withPixels { pixels in
            for row in 0..<size {
                let rows = row * height / size..<max(row * height / size + 1, (row + 1) * height / size)
                for column in 0..<size {
                    let columns = column * width / size..<max(column * width / size + 1, (column + 1) * width / size)
                    var (red, green, blue) = (0, 0, 0)
                    for y in rows {
                        for x in columns {
                            let place = (y * width + x) * 4
                            red += Int(pixels[place])
                            green += Int(pixels[place + 1])
                            blue += Int(pixels[place + 2])
                        }
                    }
                    let count = rows.count * columns.count
                    for sum in [red, green, blue] { output.append(UInt8(sum / count)) }
                }
            }
        }
        return output
    }
}
