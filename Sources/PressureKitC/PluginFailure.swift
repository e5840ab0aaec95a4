import CPressureKit
import PressureKit

/// Why a call of the plugin's does nothing: a status, and the words for `pressurekit_last_error()`.
struct PluginFailure: Error, Hashable {
    let status: pressurekit_status
    let message: String
    /// What a callback has returned, if that is the reason; else 0.
    var callbackResult: Int32 = 0

    init(_ status: some BinaryInteger, _ message: String, callbackResult: Int32 = 0) {
        self.status = pressurekit_status(status)
        self.message = message
        self.callbackResult = callbackResult
    }

    static func badArgument(_ message: String) -> PluginFailure { PluginFailure(PRESSUREKIT_BAD_ARGUMENT, message) }

    static func badHandle(_ kind: String) -> PluginFailure {
        PluginFailure(
            PRESSUREKIT_BAD_HANDLE,
            "This is no \(kind): it was released before, is of another kind, or was never given out."
        )
    }

    static func inUse(_ message: String) -> PluginFailure { PluginFailure(PRESSUREKIT_IN_USE, message) }

    static func recursive(_ message: String) -> PluginFailure { PluginFailure(PRESSUREKIT_RECURSIVE, message) }

    static func duplicate(_ name: String) -> PluginFailure {
        PluginFailure(
            PRESSUREKIT_DUPLICATE,
            "There is a cache \"\(name)\" already. Give this one another name, or remove that one first."
        )
    }

    static func loadFailed(_ message: String) -> PluginFailure { PluginFailure(PRESSUREKIT_LOAD_FAILED, message) }

    static let shutDown = PluginFailure(
        PRESSUREKIT_SHUT_DOWN,
        "The cache or its manager was removed meanwhile."
    )

    /// Of any error that the library throws.
    init(_ error: any Error) {
        switch error {
        case let failure as PluginFailure: self = failure
        case let error as PressureError: self.init(Self.status(of: error.code), error.wordsForC)
        default: self.init(PRESSUREKIT_UNAVAILABLE, "\(error)")
        }
    }

    private static func status(of code: PressureError.Code) -> Int {
        let status =
            switch code {
            case .noValue: PRESSUREKIT_NO_VALUE
            case .restoreFailed, .damagedCopy: PRESSUREKIT_RESTORE_FAILED
            case .recursiveAccess: PRESSUREKIT_RECURSIVE
            case .duplicateIdentifier: PRESSUREKIT_DUPLICATE
            case .invalidConfiguration, .valueTooLarge: PRESSUREKIT_BAD_ARGUMENT
            case .shutDown: PRESSUREKIT_SHUT_DOWN
            case .stateRefused: PRESSUREKIT_STATE_REFUSED
            default: PRESSUREKIT_UNAVAILABLE
            }
        return Int(status)
    }
}

/// Does the work of a call: no error goes further than this.
func answer(_ work: () throws -> Void) -> pressurekit_status {
    do {
        try work()
        return pressurekit_status(PRESSUREKIT_OK)
    } catch {
        let failure = PluginFailure(error)
        // The string outlives the call, which copies it.
        unsafe pkc_note_error(failure.message, failure.callbackResult)
        return failure.status
    }
}
