/// What has to be known of a frame before its value may leave memory.
package enum SpillAssurance: Sendable, CaseIterable {
    /// The system has taken it. Enough for a value that its loader makes again: what the disk loses later is found by its
    /// checksum when it is read.
    case taken
    /// It has been read back as it was written, from the page cache if it was there still. Enough where the whole file is
    /// synchronised before anybody relies on it.
    case readBack
    /// The device has taken it, and it has been read back from there. For a value that nobody can make again: a page
    /// cache takes what the disk behind it will refuse. A file in memory is its own device.
    case onDevice
}
