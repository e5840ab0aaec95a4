import Glibc

/// The environment variables the library looks at.
enum ProcessEnvironment {
    /// Read when a manager is created, not later: `getenv` is not safe beside `setenv` on another thread.
    static var variables: [String: String] {
        // getenv returns nil or a C string, copied at once.
        var variables: [String: String] = [:]
        let names = [
            "TMPDIR", ServiceWatch.watchVariable, ServiceWatch.writeVariable, ControlSocket.variable, "XDG_RUNTIME_DIR",
        ]
        for name in names {
            if let value = unsafe getenv(name) { variables[name] = unsafe String(cString: value) }
        }
        return variables
    }
}
