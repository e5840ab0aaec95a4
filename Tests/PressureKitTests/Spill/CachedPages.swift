import Glibc
import Testing

/// Pages of a file, and how many of them the kernel has in its cache.
struct CachedPages {
    let cached: Int
    let all: Int

    init(ofFile descriptor: CInt) throws {
        let length = Int(lseek(descriptor, 0, SEEK_END))
        let map = unsafe mmap(nil, length, PROT_READ, MAP_SHARED, descriptor, 0)
        try #require(unsafe map != MAP_FAILED)
        defer { unsafe _ = munmap(map, length) }
        var pages = [UInt8](repeating: 0, count: (length + 4095) / 4096)
        // One byte for each page of the mapping.
        try #require(unsafe mincore(map!, length, &pages) == 0)
        (cached, all) = (pages.count { $0 & 1 != 0 }, pages.count)
    }

    init(of path: String) throws {
        let descriptor = unsafe open(path, O_RDONLY)
        defer { close(descriptor) }
        try #require(descriptor >= 0)
        try self.init(ofFile: descriptor)
    }
}
