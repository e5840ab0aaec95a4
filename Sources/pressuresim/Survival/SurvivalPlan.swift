import PressureKit
import SampleContent

/// What the survival demonstration asks of a process: to hold much more than it is allowed to.
struct SurvivalPlan: Hashable, Sendable {
    /// The limit of the cgroup it runs in.
    var limit = ByteCount.mebibytes(256)
    /// The working set, as a multiple of the limit.
    var times = 4.0
    /// How fast it is loaded at most, in bytes a second.
    var rate = 500e6
    /// The bytes of one value.
    var valueSize = ByteCount.mebibytes(1)
    /// Where to spill; `nil` for the library's choice.
    var spillDirectory: String?
    #if Redis
    /// The server to spill to in place of a disk.
    var remote: RemoteAddress?
    #endif
    /// Whether what is spilled may stay in the page cache, as on a machine without a limit.
    var usesPageCache = false
    /// When the spill directory goes away; `nil` if it stays.
    var outage: SurvivalOutage?

    /// How many values make up the working set.
    var count: Int { max(Int(times * Double(limit.bytes)) / valueSize.bytes, 1) }

    /// The bytes of all values.
    var workingSet: ByteCount { .bytes(count * valueSize.bytes) }

    /// The content of the values: half of it compresses away.
    var content: SyntheticContent { SyntheticContent(compressibility: 0.5, seed: 0x5EED) }
}

/// A time during which the spill directory is gone. It is told by a file, for which the disk's server looks.
struct SurvivalOutage: Hashable, Sendable {
    /// The file that exists as long as it lasts.
    var file: String
    /// Whether it outlasts the process.
    var isForEver = false
}

/// How the values are kept.
enum SurvivalMode: String, Hashable, Sendable, CaseIterable, Codable {
    /// In a dictionary, as a program without the library would.
    case without
    /// In PressureKit's caches.
    case with
}
