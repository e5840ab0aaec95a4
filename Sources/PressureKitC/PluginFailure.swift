import CPressureKit
import PressureKit

/// Why a call of the plugin's does nothing: a status, and the words for `pressurekit_last_error()`.
struct PluginFailure: Error, Hashable {
    let status: pressurekit_status
    let message: String

    static func badArgument(_ message: String) -> PluginFailure {
        PluginFailure(status: pressurekit_status(PRESSUREKIT_BAD_ARGUMENT), message: message)
    }

    static func badHandle(_ kind: String) -> PluginFailure {
        PluginFailure(
            status: pressurekit_status(PRESSUREKIT_BAD_HANDLE),
            message: "This is no \(kind): it was released before, is of another kind, or was never given out."
        )
    }

    static func inUse(_ message: String) -> PluginFailure {
        PluginFailure(status: pressurekit_status(PRESSUREKIT_IN_USE), message: message)
    }

    static func recursive(_ message: String) -> PluginFailure {
        PluginFailure(status: pressurekit_status(PRESSUREKIT_RECURSIVE), message: message)
    }

    static func loadFailed(_ message: String) -> PluginFailure {
        PluginFailure(status: pressurekit_status(PRESSUREKIT_LOAD_FAILED), message: message)
    }

    static let shutDown = PluginFailure(
        status: pressurekit_status(PRESSUREKIT_SHUT_DOWN),
        message: "The cache or its manager was removed meanwhile."
    )

    /// Of any error that the library throws.
    init(_ error: any Error) {
        switch error {
        case let failure as PluginFailure: self = failure
        case let error as PressureError:
            self.init(status: Self.status(of: error.code), message: error.description)
        default: self.init(status: pressurekit_status(PRESSUREKIT_UNAVAILABLE), message: "\(error)")
        }
    }

    init(status: pressurekit_status, message: String) {
        self.status = status
        self.message = message
    }

    private static func status(of code: PressureError.Code) -> pressurekit_status {
        let status =
            switch code {
            case .noValue: PRESSUREKIT_NO_VALUE
            case .restoreFailed, .damagedCopy: PRESSUREKIT_RESTORE_FAILED
            case .recursiveAccess: PRESSUREKIT_RECURSIVE
            case .duplicateIdentifier: PRESSUREKIT_DUPLICATE
            case .invalidConfiguration, .valueTooLarge: PRESSUREKIT_BAD_ARGUMENT
            case .shutDown: PRESSUREKIT_SHUT_DOWN
            default: PRESSUREKIT_UNAVAILABLE
            }
        return pressurekit_status(status)
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
        unsafe pkc_note_error(failure.message)
        return failure.status
    }
}
