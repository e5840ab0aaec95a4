public import CPressureKit
import PressureKit

// The functions of pressurekit.h for being told of warnings, and for saved state.

/// `pressurekit_set_warning_callback`
@_cdecl("pressurekit_set_warning_callback")
public func pluginSetWarningCallback(
    _ handle: pressurekit_manager_t,
    _ function: pressurekit_warning_fn?,
    _ context: UnsafeMutableRawPointer?
) -> pressurekit_status {
    answer {
        try PluginRegistry.shared.withManager(handle) { manager in
            manager.tell(unsafe function.map { unsafe PluginWarnings($0, context) })
        }
    }
}

/// `pressurekit_save_state`
@_cdecl("pressurekit_save_state")
public func pluginSaveState(
    _ handle: pressurekit_manager_t,
    _ directory: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?,
    _ result: UnsafeMutablePointer<pressurekit_state_report>?
) -> pressurekit_status {
    answer {
        let (directory, version) = unsafe try place(directory, version)
        unsafe try report(handle, result) { try $0.saveState(to: directory, version) }
    }
}

/// `pressurekit_restore_state`
@_cdecl("pressurekit_restore_state")
public func pluginRestoreState(
    _ handle: pressurekit_manager_t,
    _ directory: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?,
    _ result: UnsafeMutablePointer<pressurekit_state_report>?
) -> pressurekit_status {
    answer {
        let (directory, version) = unsafe try place(directory, version)
        unsafe try report(handle, result) { try $0.restoreState(from: directory, version) }
    }
}

private func place(_ directory: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?) throws -> (String, String) {
    guard let directory = unsafe directory else { throw PluginFailure.badArgument("directory is NULL.") }
    let path = unsafe try PluginStructure.text(directory, "directory", atMost: 4095)
    guard let version = unsafe version else { return (path, "") }
    return (path, unsafe try PluginStructure.text(version, "version", atMost: 255))
}

private func report(
    _ handle: pressurekit_manager_t,
    _ result: UnsafeMutablePointer<pressurekit_state_report>?,
    _ work: (PluginManager) throws -> StateReport
) throws {
    // Before anything is done: a result that cannot be written is no reason to forget what was done.
    if let result = unsafe result { unsafe try PluginStructure.write(pressurekit_state_report(), to: result) }
    let report = try PluginRegistry.shared.withManager(handle) { manager in
        guard !PluginRegistry.shared.isCallingBack(handle) else { throw PluginFailure.isCallback }
        return try work(manager)
    }
    if let result = unsafe result { unsafe try PluginStructure.write(pressurekit_state_report(report), to: result) }
}

extension PluginFailure {
    /// Of a call that would wait for what the callback which makes it holds up.
    static let isCallback = recursive(
        "This is a callback of the manager or of one of its caches, which the call would wait for."
    )
}

extension pressurekit_state_report {
    init(_ report: StateReport) {
        self.init()
        found = report.isFound ? 1 : 0
        caches = UInt64(report.caches.count)
        missing = UInt64(report.stopped.count)
        failures = UInt64(report.failures.count)
        bytes = UInt64(clamping: report.byteCount.bytes)
    }
}
