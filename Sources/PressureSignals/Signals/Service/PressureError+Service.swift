import PressureSystem
import SystemPackage

/// What the service manager wants watched, and cannot be.
extension PressureError {
    static func serviceIsSilent(_ message: String) -> PressureError {
        PressureError(code: .signalUnavailable, message: message)
    }

    static func serviceUnreachable(_ path: String, errno: CInt) -> PressureError {
        PressureError(
            code: .signalUnavailable,
            message: """
                The service manager names \(path) (\(ServiceWatch.watchVariable)), which cannot be used: \
                \(Errno(rawValue: errno)).
                """,
            errno: errno
        )
    }
}
