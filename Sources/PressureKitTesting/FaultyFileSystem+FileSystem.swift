package import PressureKit
package import SystemPackage

extension FaultyFileSystem: FileSystem {
    package func openNameless(in directory: String) throws(Errno) -> CInt {
        try fail(.open)
        return try base.openNameless(in: directory)
    }

    package func openExclusive(_ path: String) throws(Errno) -> CInt {
        try fail(.open)
        return try base.openExclusive(path)
    }

    package func openDirect(_ descriptor: CInt) throws(Errno) -> CInt {
        try fail(.open)
        let direct = try base.openDirect(descriptor)
        state.withLock { $0.late.directs[direct] = descriptor }
        return direct
    }

    package func unlink(_ path: String) throws(Errno) {
        try fail(.unlink)
        try base.unlink(path)
    }

    package func close(_ descriptor: CInt) {
        state.withLock { $0.late.close(descriptor) }
        base.close(descriptor)
    }

    package func read(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        // The caller's buffers, passed on.
        try unsafe read(descriptor, into: first, second) { (first, second) throws(Errno) in
            unsafe try base.read(descriptor, at: offset, into: first, second)
        }
    }

    package func readUncached(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        // As in `read`.
        try unsafe read(descriptor, into: first, second) { (first, second) throws(Errno) in
            unsafe try base.readUncached(descriptor, at: offset, into: first, second)
        }
    }

    private func read(
        _ descriptor: CInt,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer,
        by base: (UnsafeMutableRawBufferPointer, UnsafeMutableRawBufferPointer) throws(Errno) -> Int
    ) throws(Errno) -> Int {
        let struck = strike(.read)
        if case .error(let number) = struck?.fault { throw Errno(rawValue: number) }
        if struck?.fault == .short {
            // The first half of the two buffers taken together, at least one byte of it.
            let (head, rest) = unsafe halves(first, second, isDirect: isDirect(descriptor))
            return try unsafe base(head, rest)
        }
        let count = try unsafe base(first, second)
        if let struck, struck.fault == .bitFlip, count > 0 {
            // Spread the flips over the bytes read; the index is below `count`, which is at most both buffers.
            let bit = (struck.number &* 2_654_435_761) % (count * 8)
            let index = bit / 8
            if index < first.count {
                unsafe first[index] ^= 1 << (bit % 8)
            } else {
                unsafe second[index - first.count] ^= 1 << (bit % 8)
            }
        }
        return count
    }

    package func write(
        _ descriptor: CInt,
        at offset: Int64,
        from first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) -> Int {
        let struck = strike(.write)
        defer { state.withLock { $0.follower }?() }
        switch struck?.fault {
        case .error(let number): throw Errno(rawValue: number)
        case .short: return try unsafe writeHalf(descriptor, offset, first, second)
        case .lyingWrite:
            _ = try unsafe writeHalf(descriptor, offset, first, second)
            return first.count + second.count
        case .lostWrite: return first.count + second.count
        case .wrongWrite:
            var bytes = unsafe [UInt8](first) + [UInt8](second)
            // Spread as in `read`.
            let bit = ((struck?.number ?? 0) &* 2_654_435_761) % max(1, bytes.count * 8)
            if !bytes.isEmpty { bytes[bit / 8] ^= 1 << (bit % 8) }
            let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
            // The array outlives the call.
            return try unsafe bytes.withUnsafeBytes { bytes in
                Result { () throws(Errno) in try unsafe base.write(descriptor, at: offset, from: bytes, nothing) }
            }.get()
        case .lateError(let number):
            if isDirect(descriptor) { throw Errno(rawValue: number) }
            let count = try unsafe base.write(descriptor, at: offset, from: first, second)
            state.withLock { $0.late.note(descriptor, at: offset, count: Int64(count), number) }
            return count
        case .bitFlip, nil:
            let count = try unsafe base.write(descriptor, at: offset, from: first, second)
            state.withLock { $0.late.note(descriptor, at: offset, count: Int64(count), nil) }
            return count
        }
    }

    package func truncate(_ descriptor: CInt, to size: Int64) throws(Errno) {
        try fail(.truncate)
        try base.truncate(descriptor, to: size)
        state.withLock { $0.late.cut(descriptor, at: size) }
    }

    package func punchHole(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try fail(.punchHole)
        try base.punchHole(descriptor, at: offset, count: count)
        state.withLock { $0.late.note(descriptor, at: offset, count: count, nil) }
    }

    package func startWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try fail(.writeback)
        try base.startWriteback(descriptor, at: offset, count: count)
    }

    package func finishWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try fail(.writeback)
        try base.finishWriteback(descriptor, at: offset, count: count)
        lose(state.withLock { $0.late.writeBack(descriptor, at: offset, count: count) })
        if let number = state.withLock({ $0.late.takeError(of: descriptor) }) { throw Errno(rawValue: number) }
    }

    package func expectRandomReads(_ descriptor: CInt) {
        try? fail(.advise)
        base.expectRandomReads(descriptor)
    }

    package func dropCached(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try fail(.dropCached)
        try base.dropCached(descriptor, at: offset, count: count)
    }

    package func freeSpace(_ descriptor: CInt) throws(Errno) -> UInt64 {
        try fail(.freeSpace)
        return try base.freeSpace(descriptor)
    }

    package func usage(_ descriptor: CInt) throws(Errno) -> FileUsage {
        try fail(.inspect)
        return try base.usage(descriptor)
    }

    package func directoryFacts(_ path: String) throws(Errno) -> DirectoryFacts {
        try fail(.inspect)
        return try base.directoryFacts(path)
    }

    package var maximumFileSize: Int64 { base.maximumFileSize }

    package var effectiveUser: UInt32 { base.effectiveUser }

    /// Counts a call that only an error can strike.
    func fail(_ operation: Operation) throws(Errno) {
        if case .error(let number) = strike(operation)?.fault { throw Errno(rawValue: number) }
    }

    /// Past the page cache no device does a part of a sector.
    private func half(of count: Int, isDirect: Bool) -> Int {
        isDirect ? min(count, (count / 2 + 511) & ~511) : (count + 1) / 2
    }

    private func writeHalf(
        _ descriptor: CInt,
        _ offset: Int64,
        _ first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) -> Int {
        let half = half(of: first.count + second.count, isDirect: isDirect(descriptor))
        // Both ends stay inside their buffers: `half` is at most their sum.
        return try unsafe base.write(
            descriptor,
            at: offset,
            from: UnsafeRawBufferPointer(rebasing: first[..<min(half, first.count)]),
            UnsafeRawBufferPointer(rebasing: second[..<max(0, half - first.count)])
        )
    }

    private func halves(
        _ first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer,
        isDirect: Bool
    ) -> (UnsafeMutableRawBufferPointer, UnsafeMutableRawBufferPointer) {
        let half = half(of: first.count + second.count, isDirect: isDirect)
        // As in `writeHalf`.
        return unsafe (
            UnsafeMutableRawBufferPointer(rebasing: first[..<min(half, first.count)]),
            UnsafeMutableRawBufferPointer(rebasing: second[..<max(0, half - first.count)])
        )
    }
}
