import CZlib
import Foundation
import PressureKit

/// Where and on what was measured.
struct BenchMachine: Hashable, Sendable, Encodable {
    var processor: String
    var cores: Int
    var memoryBytes: Int
    var kernel: String
    /// Runnable threads, averaged over a minute, before the bench began: more than a few tenths, and others had a part of
    /// what was measured.
    var loadBefore: Double
    var spillDirectory: String
    var corpus: String
    var zlib: String
    /// Whether the compiler optimised; the figures mean nothing if it did not.
    var optimized: Bool

    init(spillDirectory: String, corpus: String, loadBefore: Double) {
        processor = Self.processorName
        cores = ProcessInfo.processInfo.activeProcessorCount
        memoryBytes = ProcessMemory.total?.bytes ?? 0
        kernel = ProcessInfo.processInfo.operatingSystemVersionString
        self.loadBefore = loadBefore
        self.spillDirectory = spillDirectory
        self.corpus = corpus
        zlib = unsafe String(cString: zlibVersion())
        #if DEBUG
        optimized = false
        #else
        optimized = true
        #endif
    }

    /// The first number of `/proc/loadavg`; 0 if there is none.
    static var load: Double {
        let text = try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)
        return text?.split(separator: " ").first.flatMap { Double($0) } ?? 0
    }

    private static var processorName: String {
        let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        let name = line?.split(separator: ":", maxSplits: 1).last?.trimmingCharacters(in: .whitespaces)
        return name ?? "unknown"
    }
}
