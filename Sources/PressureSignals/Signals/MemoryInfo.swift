package import PressureSystem

/// What `/proc/meminfo` says about the host, in bytes. See proc_meminfo(5).
package struct MemoryInfo: Hashable, Sendable {
    /// Usable memory of the host.
    package var total: ByteCount
    /// Memory nobody uses.
    package var free: ByteCount?
    /// The kernel's estimate of what programs can still take without swapping; since Linux 3.14.
    package var available: ByteCount?
    /// Cached blocks of devices.
    package var buffers: ByteCount?
    /// The page cache, shared memory included.
    package var cached: ByteCount?
    /// Shared memory and tmpfs: in the page cache, but not to be had without swap.
    package var shared: ByteCount?
    /// File pages that were used lately; since Linux 2.6.28.
    package var activeFile: ByteCount?
    /// File pages that were not.
    package var inactiveFile: ByteCount?
    /// Kernel objects that go when memory is short.
    package var reclaimableSlab: ByteCount?
    /// Size of all swap areas.
    package var swapTotal: ByteCount?
    /// Unused part of them.
    package var swapFree: ByteCount?

    /// Creates a record with only the total known.
    package init(total: ByteCount) { self.total = total }

    /// What programs can still take: the kernel's word, or ours where the kernel has none.
    ///
    /// A `MemAvailable` of 0 is no word: some containers have it for ever (psutil issue 1915), and where it is true the
    /// estimate is about 0 as well.
    ///
    /// - Returns: `nil` when the file had neither `MemAvailable` nor `MemFree`.
    package var headroom: Headroom? {
        let told = available == .zero ? nil : available
        guard let available = told ?? estimatedAvailable ?? available else { return nil }
        return Headroom(available: available, limit: total, pageCache: free.map { available - $0 } ?? .zero)
    }

    /// `MemAvailable` for kernels before 3.14, by the formula that 3.14 brought (`si_mem_available`, Linux commit
    /// 34e431b0ae39): free memory above the low watermark, and of the page cache and of the reclaimable slab all but
    /// the smaller of their half and the low watermark.
    ///
    /// - Returns: `nil` when even `MemFree` is missing.
    package var estimatedAvailable: ByteCount? {
        guard let free else { return nil }
        let watermark = lowWatermark
        let estimate =
            free.bytes - watermark + Self.reclaimable(pageCache, keeping: watermark)
            + Self.reclaimable(reclaimableSlab?.bytes ?? 0, keeping: watermark)
        return ByteCount(bytes: min(max(0, estimate), total.bytes))
    }

    /// File pages; before 2.6.28 the lists were not split, and all of the cache but shared memory comes closest.
    private var pageCache: Int {
        if let activeFile, let inactiveFile { return activeFile.bytes + inactiveFile.bytes }
        return max(0, (cached?.bytes ?? 0) + (buffers?.bytes ?? 0) - (shared?.bytes ?? 0))
    }

    private static func reclaimable(_ bytes: Int, keeping watermark: Int) -> Int { bytes - min(bytes / 2, watermark) }

    /// The sum of the zones' low watermarks, which the file does not tell. By default it is 5/4 of `min_free_kbytes`,
    /// and that is 4 × √(memory in KiB), from 128 KiB to 64 MiB (`init_per_zone_wmark_min` in `mm/page_alloc.c` of those
    /// kernels). An administrator or huge pages may have raised it: against kernels that give both figures the estimate
    /// is up to 4 % of memory too high.
    private var lowWatermark: Int {
        let minimum = min(max(4 * Double(total.bytes >> 10).squareRoot(), 128), 65_536)
        return Int(minimum * 1.25) << 10
    }
}
