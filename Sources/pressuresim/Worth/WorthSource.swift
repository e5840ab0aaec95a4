import PressureKit
import ReportPages

/// Where values come from when they are not in memory: how far away a loader's source is, and where PressureKit may put
/// them instead.
struct WorthSource: Hashable, Sendable, Codable {
    /// How long a loader waits before it reads the file: for a database, or another machine.
    var loadNanoseconds: Int64 = 0
    /// The server that PressureKit spills to in place of the disk, as an argument names it.
    var server: String?

    /// How many fill a cache at least: waiting for a source takes no processor.
    var fillers: Int { loadNanoseconds > 0 ? 32 : 1 }

    /// Nothing set but the server.
    var configuration: PressureConfiguration {
        var configuration = PressureConfiguration()
        #if Redis
        configuration.remote = server.flatMap(RemoteAddress.init)?.remote()
        configuration.remote?.replacesDisk = true
        #endif
        return configuration
    }

    /// In a sentence about how it was measured; `nil` where there is nothing to say.
    var words: String? {
        let loads =
            loadNanoseconds > 0
            ? "a load waits \(Quantities.duration(Double(loadNanoseconds) / 1e9)) for its source" : nil
        let spills = server.map { "PressureKit has no disk and spills to \($0)" }
        let all = [loads, spills].compactMap(\.self)
        return all.isEmpty ? nil : all.joined(separator: ", ")
    }
}
