/// The Quite OK Image format, version 1.0 (Dominic Szablewski, 2022): a header of 14 bytes, then each pixel as a run, an
/// index of a pixel seen before, a small difference, or as it is.
enum QOI {
    /// The bytes are no picture.
    struct Malformed: Error {
        let reason: String
    }

    private struct Pixel: Hashable {
        var red: UInt8 = 0
        var green: UInt8 = 0
        var blue: UInt8 = 0
        var alpha: UInt8 = 255

        var place: Int { (Int(red) * 3 + Int(green) * 5 + Int(blue) * 7 + Int(alpha) * 11) % 64 }
    }

    private static let magic = Array("qoif".utf8)
    private static let headerSize = 14

    /// Decodes a file. The pixels are written where they stay.
    ///
    /// - Throws: ``Malformed``.
    static func decode(_ file: [UInt8]) throws -> Picture {
        guard file.count > headerSize, Array(file[..<4]) == magic else { throw Malformed(reason: "no header") }
        func number(at offset: Int) -> Int { file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        let (width, height) = (number(at: 4), number(at: 8))
        guard 1...16_384 ~= width, 1...16_384 ~= height else { throw Malformed(reason: "\(width) by \(height) pixels") }

        return try Picture(width: width, height: height) { pixels in
            var seen = [Pixel](repeating: Pixel(alpha: 0), count: 64)
            var pixel = Pixel()
            var next = headerSize
            var run = 0
            func byte() throws -> UInt8 {
                guard next < file.count else { throw Malformed(reason: "it ends early") }
                defer { next += 1 }
                return file[next]
            }
            for place in stride(from: 0, to: pixels.count, by: 4) {
                if run > 0 {
                    run -= 1
                } else {
                    let tag = try byte()
                    switch (tag, tag >> 6) {
                    case (0xFE, _): (pixel.red, pixel.green, pixel.blue) = (try byte(), try byte(), try byte())
                    case (0xFF, _):
                        pixel = Pixel(red: try byte(), green: try byte(), blue: try byte(), alpha: try byte())
                    case (_, 0): pixel = seen[Int(tag)]
                    case (_, 1):
                        pixel.red &+= (tag >> 4 & 3) &- 2
                        pixel.green &+= (tag >> 2 & 3) &- 2
                        pixel.blue &+= (tag & 3) &- 2
                    case (_, 2):
                        let (green, rest) = ((tag & 0x3F) &- 32, try byte())
                        pixel.red &+= green &+ (rest >> 4) &- 8
                        pixel.green &+= green
                        pixel.blue &+= green &+ (rest & 0x0F) &- 8
                    default: run = Int(tag & 0x3F)
                    }
                    seen[pixel.place] = pixel
                }
                pixels[place] = pixel.red
                pixels[place + 1] = pixel.green
                pixels[place + 2] = pixel.blue
                pixels[place + 3] = pixel.alpha
            }
        }
    }

    /// Encodes pixels, four bytes each.
    static func encode(width: Int, height: Int, pixels: [UInt8]) -> [UInt8] {
        var file = magic
        for number in [width, height] { file += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
        file += [4, 0]
        var seen = [Pixel](repeating: Pixel(alpha: 0), count: 64)
        var last = Pixel()
        var run = 0
        for place in stride(from: 0, to: pixels.count, by: 4) {
            let pixel = Pixel(
                red: pixels[place],
                green: pixels[place + 1],
                blue: pixels[place + 2],
                alpha: pixels[place + 3]
            )
            let isLast = place + 4 == pixels.count
            if pixel == last {
                run += 1
                if run == 62 || isLast {
                    file.append(0xC0 | UInt8(run - 1))
                    run = 0
                }
                continue
            }
            if run > 0 {
                file.append(0xC0 | UInt8(run - 1))
                run = 0
            }
            defer { (seen[pixel.place], last) = (pixel, pixel) }
            if seen[pixel.place] == pixel {
                file.append(UInt8(pixel.place))
            } else if pixel.alpha != last.alpha {
                file += [0xFF, pixel.red, pixel.green, pixel.blue, pixel.alpha]
            } else {
                let red = Int8(bitPattern: pixel.red &- last.red)
                let green = Int8(bitPattern: pixel.green &- last.green)
                let blue = Int8(bitPattern: pixel.blue &- last.blue)
                let (redToGreen, blueToGreen) = (red &- green, blue &- green)
                if -2...1 ~= red, -2...1 ~= green, -2...1 ~= blue {
                    file.append(0x40 | UInt8(red + 2) << 4 | UInt8(green + 2) << 2 | UInt8(blue + 2))
                } else if -32...31 ~= green, -8...7 ~= redToGreen, -8...7 ~= blueToGreen {
                    file += [0x80 | UInt8(green + 32), UInt8(redToGreen + 8) << 4 | UInt8(blueToGreen + 8)]
                } else {
                    file += [0xFE, pixel.red, pixel.green, pixel.blue]
                }
            }
        }
        return file + [0, 0, 0, 0, 0, 0, 0, 1]
    }
}
