import Glibc

/// The environment variables the library looks at.
enum ProcessEnvironment {
    /// Read when a manager is created, not later: `getenv` is not safe beside `setenv` on another thread.
    static var variables: [String: String] {
        // getenv returns nil or a C string, copied at once.
        guard let directory = unsafe getenv("TMPDIR") else { return [:] }
        return ["TMPDIR": unsafe String(cString: directory)]
    }
}
