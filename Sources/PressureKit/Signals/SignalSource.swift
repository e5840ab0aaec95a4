/// Something that can say how short memory is.
package protocol SignalSource: EventReceiver {
    /// Where the source reads, for causes and logs: a path such as `"/proc/meminfo"`.
    var name: String { get }

    /// How many readings it can have at a time, such as one for each cgroup above the process. Never changes. The
    /// default is 1.
    var width: Int { get }

    /// The present reading, for sources with one. Does not wait and allocates nothing. Called by one thread at a time.
    ///
    /// - Returns: `nil` when there is no news; the source's last word then stands for a while.
    func sample(at now: MonotonicInstant) -> SignalReading?

    /// The present readings. Does not wait and allocates nothing, unless what it reads has moved since. Called by one
    /// thread at a time. The default is for sources with one.
    ///
    /// - Parameters:
    ///   - readings: Where to put them; `nil` in a place means no news there.
    ///   - first: The source's first place; it has ``width`` of them.
    func sample(at now: MonotonicInstant, into readings: inout [SignalReading?], from first: Int)

    /// The monitor begins to wait on `loop`: a source that hears of pressure by itself wakes it from now on, and one
    /// that has descriptors has them watched. The default does nothing, for sources that are only polled.
    func attach(to loop: EventLoop)

    /// The monitor waits on `loop` no longer. The default does nothing.
    func detach(from loop: EventLoop)

    /// This process is the child of a fork(2): what was opened before describes the parent, or belongs to it, and is
    /// opened anew. Called while attached to no loop. The default does nothing.
    func reopenAfterFork()

    /// What works here and what does not. May allocate. The default says that the source can be read.
    var statuses: [SignalStatus] { get }
}

extension SignalSource {
    package var width: Int { 1 }
    package func sample(at now: MonotonicInstant) -> SignalReading? { nil }
    package func sample(at now: MonotonicInstant, into readings: inout [SignalReading?], from first: Int) {
        readings[first] = sample(at: now)
    }
    package func attach(to loop: EventLoop) {}
    package func detach(from loop: EventLoop) {}
    package func reopenAfterFork() {}
    package func receive(_ event: EventLoop.Event) {}
    package var statuses: [SignalStatus] {
        [SignalStatus(origin: .simulated, source: name, state: .available, detail: "Asked with each sample.")]
    }
}
