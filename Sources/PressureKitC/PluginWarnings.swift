import CPressureKit
import PressureKit

/// The function of the app's that is told of memory warnings.
@safe
final class PluginWarnings: PressureManagerDelegate, @unchecked Sendable {
    // Sendable: nothing is changed, and the header has the app promise that its function may be called, with its context,
    // on any thread.
    private let function: pressurekit_warning_fn
    private let context: UnsafeMutableRawPointer?
    private let gate = PluginGate()

    init(_ function: @escaping pressurekit_warning_fn, _ context: UnsafeMutableRawPointer?) {
        unsafe self.function = function
        unsafe self.context = context
    }

    var isCallingOnThisThread: Bool { gate.isCallingOnThisThread }

    /// Has it not called any more. Blocks until it is not running, unless it is that which calls this.
    func close() {
        gate.close()
        if !gate.isCallingOnThisThread { gate.waitUntilEmpty() }
    }

    func managerDidReceiveMemoryWarning(_ warning: MemoryWarning) {
        // Once it is closed nobody wants to know.
        try? gate.during {
            unsafe warning.cause.description.withCString { reason in
                var passed = unsafe pressurekit_warning()
                unsafe passed.size = MemoryLayout<pressurekit_warning>.size
                unsafe passed.level = Int32(warning.level == .critical ? PRESSUREKIT_CRITICAL : PRESSUREKIT_WARNING)
                unsafe passed.bytes_wanted = UInt64(clamping: warning.bytesWanted?.bytes ?? 0)
                unsafe passed.reason = reason
                // Valid until it returns, as is the text.
                unsafe function(context, &passed)
            }
        }
    }
}
