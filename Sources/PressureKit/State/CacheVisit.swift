import PressureSystem
import SpillStore
import SystemPackage

/// Where a limit on memory counts the page cache, what a saved state brings there goes again, window by window: it is
/// read or written once, and would be taken for room that the app's values need.
struct CacheVisit {
    /// `nil` where there is no page cache.
    private let fileSystem: (any NamedFileSystem)?
    private let descriptor: CInt
    /// Bytes after which they go; `nil` where the kernel may keep them.
    private let window: Int?
    /// Bytes since they went.
    private var count = 0

    init(_ fileSystem: any NamedFileSystem, _ descriptor: CInt, _ limits: SpillLimits) {
        self.fileSystem = fileSystem
        self.descriptor = descriptor
        window = limits.bypassPageCache ? limits.writebackWindow : nil
    }

    /// One on a server.
    init() {
        fileSystem = nil
        descriptor = -1
        window = nil
    }

    /// Notes bytes that were read.
    mutating func moved(_ bytes: Int) {
        count += bytes
        if let window, count >= window { drop() }
    }

    /// Notes bytes that were written, and waits for the device after each window.
    ///
    /// Not with what the spill file does: that it fails would be told to whoever waits for the range, and to nobody who
    /// synchronises the file later.
    mutating func wrote(_ bytes: Int) throws(Errno) {
        count += bytes
        guard let window, count >= window else { return }
        try fileSystem?.synchronize(descriptor)
        drop()
    }

    /// Drops what is left.
    mutating func end() {
        if window != nil { drop() }
    }

    /// Everything is on the device: that it cannot be dropped is no failure of what was read or written.
    private mutating func drop() {
        try? fileSystem?.finishWriteback(descriptor, at: 0, count: 0)
        count = 0
    }
}
