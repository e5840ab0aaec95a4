import CPressureKit
import Foundation
import PressureKit
import PressureKitC
import Testing

/// The plugin as a C program calls it, with Swift's words for what comes back.
///
/// Every pointer that is passed here is a local variable's, or an array's, for the length of the call.
struct PluginBench {
    let manager: pressurekit_manager_t

    /// A manager that watches nothing.
    init() throws {
        var options = unsafe pressurekit_options()
        unsafe options.size = MemoryLayout<pressurekit_options>.size
        unsafe options.flags = UInt32(PRESSUREKIT_NO_WATCH)
        unsafe options.workers = 1
        var manager: pressurekit_manager_t = 0
        let status = unsafe "/var/tmp".withCString { directory in
            unsafe options.spill_directory = directory
            return unsafe pressurekit_create(&options, &manager)
        }
        try #require(status == PluginBench.ok, "\(PluginBench.lastError)")
        self.manager = manager
    }

    static let ok: pressurekit_status = 0
    static var lastError: String { unsafe String(cString: pressurekit_last_error()) }

    func destroy() -> pressurekit_status { pressurekit_destroy(manager) }

    /// A cache of a value that is set.
    func cache(_ name: String) throws -> pressurekit_cache_t {
        var cache: pressurekit_cache_t = 0
        try #require(unsafe pressurekit_add_cache(manager, name, nil, &cache) == Self.ok, "\(Self.lastError)")
        return cache
    }

    /// A cache whose value an app makes.
    func cache(_ name: String, _ app: PluginApp) throws -> pressurekit_cache_t {
        var cache: pressurekit_cache_t = 0
        var options = unsafe app.options
        try #require(unsafe pressurekit_add_cache(manager, name, &options, &cache) == Self.ok, "\(Self.lastError)")
        return cache
    }

    /// What an access gives, copied, with its pin released.
    static func read(_ cache: pressurekit_cache_t) -> Result<[UInt8], PluginStatus> {
        pin(cache).map { pin in
            defer { _ = pressurekit_unpin(pin.handle) }
            return pin.bytes
        }
    }

    static func pin(_ cache: pressurekit_cache_t) -> Result<(handle: pressurekit_pin_t, bytes: [UInt8]), PluginStatus> {
        var (pin, count) = (pressurekit_pin_t(0), 0)
        var bytes: UnsafeRawPointer?
        let status = unsafe pressurekit_access(cache, &pin, &bytes, &count)
        guard status == ok else { return .failure(PluginStatus(code: status)) }
        return .success((pin, unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))))
    }

    static func set(_ cache: pressurekit_cache_t, _ bytes: [UInt8]) -> pressurekit_status {
        unsafe bytes.withUnsafeBytes { unsafe pressurekit_set(cache, $0.baseAddress, $0.count) }
    }

    static func residency(_ cache: pressurekit_cache_t) -> Int32 {
        var residency: Int32 = -1
        _ = unsafe pressurekit_get_residency(cache, &residency)
        return residency
    }

    func warn(_ level: Int = Int(PRESSUREKIT_CRITICAL)) throws -> pressurekit_report {
        var report = pressurekit_report()
        report.size = MemoryLayout<pressurekit_report>.size
        let status = unsafe pressurekit_warn(manager, Int32(level), 0, &report)
        try #require(status == Self.ok, "\(Self.lastError)")
        return report
    }

    func statistics() throws -> pressurekit_statistics {
        var statistics = pressurekit_statistics()
        statistics.size = MemoryLayout<pressurekit_statistics>.size
        let status = unsafe pressurekit_get_statistics(manager, &statistics)
        try #require(status == Self.ok, "\(Self.lastError)")
        return statistics
    }
}

/// A status that is a failure.
struct PluginStatus: Error, Equatable {
    var code: pressurekit_status
}

/// The part of an app: functions that make a value, and count how often.
final class PluginApp: Sendable {
    private struct State {
        var bytes: [UInt8]
        var status: Int32 = 0
        var words: String?
        var loads = 0
        var releases = 0
        var during: (@Sendable () -> Void)?
    }

    private let state: Lock<State>

    init(_ bytes: [UInt8]) { state = Lock(State(bytes: bytes)) }

    var loads: Int { state.withLock { $0.loads } }
    var releases: Int { state.withLock { $0.releases } }

    /// What the load function returns, and says before it does.
    func fail(_ status: Int32, saying words: String? = nil) {
        state.withLock { ($0.status, $0.words) = (status, words) }
    }

    /// Called from inside the load function.
    func onLoad(_ body: (@Sendable () -> Void)?) { state.withLock { $0.during = body } }

    /// Options that refer to this app, which is kept for ever: it must outlive the cache.
    var options: pressurekit_cache_options {
        var options = unsafe pressurekit_cache_options()
        unsafe options.size = MemoryLayout<pressurekit_cache_options>.size
        unsafe options.context = Unmanaged.passRetained(self).toOpaque()
        unsafe options.load = { context, address, count in
            // The context is the app, which outlives the cache.
            let app = unsafe Unmanaged<PluginApp>.fromOpaque(context!).takeUnretainedValue()
            let (bytes, status, words, during) = app.state.withLock { state in
                state.loads += 1
                return (state.bytes, state.status, state.words, state.during)
            }
            if let words { unsafe pressurekit_set_error(words) }
            during?()
            guard status == 0 else { return status }
            // An empty value needs no address.
            guard !bytes.isEmpty else {
                unsafe count!.pointee = 0
                return 0
            }
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            unsafe copy.copyBytes(from: bytes)
            unsafe address!.pointee = UnsafeRawPointer(copy.baseAddress)
            unsafe count!.pointee = bytes.count
            return 0
        }
        unsafe options.release = { context, address, _ in
            let app = unsafe Unmanaged<PluginApp>.fromOpaque(context!).takeUnretainedValue()
            app.state.withLock { $0.releases += 1 }
            // Allocated by the function above.
            unsafe UnsafeMutableRawPointer(mutating: address!).deallocate()
        }
        return unsafe options
    }
}
