import CLinuxShims

extension UInt32 {
    /// The calling thread, as a number that is never 0.
    static var currentThread: UInt32 { pk_thread_identifier() }
}
