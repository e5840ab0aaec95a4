import PressureSystem

/// Reads the text of `/proc/meminfo`. Pure; allocates nothing; any bytes whatever are safe.
///
/// A line counts only when it is whole, `Name: digits kB`: a line that is cut, or whose number is beyond 1 EiB, is as
/// good as missing. Of two lines with one name the first counts. Unknown lines are passed over.
package enum MemoryInfoParser {
    /// Reads all lines.
    ///
    /// - Returns: `nil` when there is no `MemTotal`, or when it is 0.
    package static func parse(_ text: borrowing Span<UInt8>) -> MemoryInfo? {
        var info = MemoryInfo(total: .zero)
        var total: ByteCount?
        var start = 0
        while start < text.count {
            let end = text.position(of: UInt8(ascii: "\n"), in: start..<text.count) ?? text.count
            if let colon = text.position(of: UInt8(ascii: ":"), in: start..<end),
                let bytes = kibibytes(text, in: colon + 1..<end)
            {
                let name = start..<colon
                if text.spells("MemTotal", in: name) {
                    total = total ?? bytes
                } else {
                    info.keep(bytes, of: text, named: name)
                }
            }
            start = end + 1
        }
        guard let total, total > .zero else { return nil }
        info.total = total
        return info
    }

    /// `"   1234 kB"` as bytes.
    private static func kibibytes(_ text: borrowing Span<UInt8>, in range: Range<Int>) -> ByteCount? {
        guard let (value, next) = text.decimal(in: range), text.spells(" kB", in: next..<range.upperBound) else {
            return nil
        }
        let (bytes, overflow) = value.multipliedReportingOverflow(by: 1024)
        return overflow || bytes > Headroom.largestLimit.bytes ? nil : ByteCount(bytes: bytes)
    }
}

extension MemoryInfo {
    fileprivate mutating func keep(_ bytes: ByteCount, of text: borrowing Span<UInt8>, named name: Range<Int>) {
        if text.spells("MemFree", in: name) {
            free = free ?? bytes
        } else if text.spells("MemAvailable", in: name) {
            available = available ?? bytes
        } else if text.spells("Buffers", in: name) {
            buffers = buffers ?? bytes
        } else if text.spells("Cached", in: name) {
            cached = cached ?? bytes
        } else if text.spells("Shmem", in: name) {
            shared = shared ?? bytes
        } else if text.spells("Active(file)", in: name) {
            activeFile = activeFile ?? bytes
        } else if text.spells("Inactive(file)", in: name) {
            inactiveFile = inactiveFile ?? bytes
        } else if text.spells("SReclaimable", in: name) {
            reclaimableSlab = reclaimableSlab ?? bytes
        } else if text.spells("SwapTotal", in: name) {
            swapTotal = swapTotal ?? bytes
        } else if text.spells("SwapFree", in: name) {
            swapFree = swapFree ?? bytes
        }
    }
}
