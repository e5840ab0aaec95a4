import PressureKit
import SampleContent

/// What a hog writes into the memory it takes.
enum HogContent: String, Sendable, CaseIterable {
    /// Random bytes: no compressor between the hog and the memory (zram, zswap) can shrink it.
    case incompressible
    /// One word over and over, another one for each page so that equal pages cannot be merged.
    case compressible
}

/// The memory that a hog holds. Each page is written, so that the kernel has to provide it.
struct HogPages {
    private let content: HogContent
    private var buffers: [PageBuffer] = []
    private var random = SplitMix64(seed: 0x4806)
    /// Pages are copied from here; making random bytes is slow in a debug build.
    private let noise: [UInt64]

    /// Holds nothing yet.
    init(_ content: HogContent) {
        self.content = content
        var random = SplitMix64(seed: 0x7065)
        noise = (0..<(content == .incompressible ? 8192 : 0)).map { _ in random.next() }
    }

    /// Takes `byteCount` more bytes and writes to all of them.
    mutating func take(_ byteCount: Int) {
        var buffer = PageBuffer(byteCount: byteCount)
        unsafe buffer.withUnsafeMutableBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: 4096) {
                // Within the buffer, whose last page may be a part of one.
                let page = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start..<min(start + 4096, bytes.count)])
                unsafe fill(page)
            }
        }
        buffers.append(buffer)
    }

    private mutating func fill(_ page: UnsafeMutableRawBufferPointer) {
        let number = random.next()
        switch content {
        case .compressible:
            // A page or less of our own, of plain bytes.
            _ = unsafe page.initializeMemory(as: UInt64.self, repeating: number)
        case .incompressible:
            let offset = Int(number % UInt64(noise.count * 8 - 4096))
            unsafe noise.withUnsafeBytes { noise in
                // `offset` leaves at least a page to the end of the noise.
                unsafe page.copyMemory(from: UnsafeRawBufferPointer(rebasing: noise[offset..<(offset + page.count)]))
            }
        }
    }
}
