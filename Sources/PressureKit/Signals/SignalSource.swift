/// Something that can say how short memory is.
package protocol SignalSource: AnyObject, Sendable {
    /// Where the source reads, for causes and logs: a path such as `"/proc/meminfo"`.
    var name: String { get }

    /// The present reading. Does not wait and allocates nothing. Called by one thread at a time.
    ///
    /// - Returns: `nil` when there is no news; the source's last word then stands for a while.
    func sample(at now: MonotonicInstant) -> SignalReading?

    /// The monitor begins to wait on `loop`: a source that hears of pressure by itself wakes it from now on.
    /// The default does nothing, for sources that are only polled.
    func attach(to loop: EventLoop)

    /// The monitor waits on `loop` no longer. The default does nothing.
    func detach(from loop: EventLoop)
}

extension SignalSource {
    package func attach(to loop: EventLoop) {}
    package func detach(from loop: EventLoop) {}
}
