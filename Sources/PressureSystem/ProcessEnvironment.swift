import Glibc

/// The environment variables the library looks at.
package enum ProcessEnvironment {
    /// The values of some variables, without those that are not set. Read when a manager is created, not later: `getenv`
    /// is not safe beside `setenv` on another thread.
    package static func variables(_ names: String...) -> [String: String] {
        // getenv returns nil or a C string, copied at once.
        var variables: [String: String] = [:]
        for name in names {
            if let value = unsafe getenv(name) { variables[name] = unsafe String(cString: value) }
        }
        return variables
    }
}
