import Foundation

/// The pictures on the disk: files in the Quite OK Image format, drawn by a formula, the same each time.
struct Album: Sendable {
    /// Pixels along a side, one after the other: decoded, a picture takes 0.25 to 2.25 MiB, about 1 MiB in the mean.
    private static let sides = [512, 384, 640, 256, 768, 448, 576, 320]

    let directory: String
    let count: Int

    /// Draws what is not there yet.
    init(at directory: String, count: Int) throws {
        (self.directory, self.count) = (directory, count)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        for id in 0..<count where !FileManager.default.fileExists(atPath: path(id)) {
            let side = Self.sides[id % Self.sides.count]
            let file = QOI.encode(width: side, height: side, pixels: Self.pixels(id, side: side))
            try Data(file).write(to: URL(filePath: path(id)), options: .atomic)
        }
    }

    /// The file of a picture. It leaves the page cache again, which the limit counts too: decoded, it is not needed any more.
    func read(_ id: Int) throws -> [UInt8] {
        let file = try FileHandle(forReadingFrom: URL(filePath: path(id)))
        let bytes = [UInt8](try file.readToEnd() ?? Data())
        posix_fadvise(file.fileDescriptor, 0, 0, POSIX_FADV_DONTNEED)
        return bytes
    }

    private func path(_ id: Int) -> String { "\(directory)/\(id).qoi" }

    /// A sky with a sun and hills, different for each number: smooth, with a little grain, as photographs are.
    private static func pixels(_ id: Int, side: Int) -> [UInt8] {
        var pixels = [UInt8](repeating: 255, count: side * side * 4)
        var grain = UInt64(id) &* 0x9E37_79B9_7F4A_7C15 | 1
        let (sunX, sunY) = (id * 37 % side, 40 + id * 11 % 120)
        for y in 0..<side {
            for x in 0..<side {
                // Xorshift (Marsaglia, 2003).
                grain ^= grain << 13
                grain ^= grain >> 7
                grain ^= grain << 17
                let place = (y * side + x) * 4
                let slope = abs(x * (id % 7 + 1) / 4 % 256 - 128)
                let hill = side * 3 / 5 + slope / 2
                let distance = (x - sunX) * (x - sunX) + (y - sunY) * (y - sunY)
                let color =
                    y > hill
                    ? (40 + id % 60, 90 + (y - hill) / 3 % 100, 50)
                    : distance < 1600 ? (250, 220 - id % 40, 120) : (120 + y / 6, 160 + y / 8, 235 - id % 30)
                pixels[place] = UInt8(color.0 + Int(grain & 1))
                pixels[place + 1] = UInt8(color.1 + Int(grain & 1))
                pixels[place + 2] = UInt8(color.2 + Int(grain & 1))
            }
        }
        return pixels
    }
}
