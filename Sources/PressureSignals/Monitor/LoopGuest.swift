package import PressureSystem

/// What takes part in the monitor's loop while it runs: signal sources, and the control socket.
package protocol LoopGuest: EventReceiver {
    /// The monitor begins to wait on `loop`: a source that hears of pressure by itself wakes it from now on, and one
    /// that has descriptors has them watched. The default does nothing, for sources that are only polled.
    func attach(to loop: EventLoop)

    /// The monitor waits on `loop` no longer. The default does nothing.
    func detach(from loop: EventLoop)

    /// This process is the child of a fork(2): what was opened before describes the parent, or belongs to it, and is
    /// opened anew. Called while attached to no loop. The default does nothing.
    func reopenAfterFork()
}

extension LoopGuest {
    package func attach(to loop: EventLoop) {}
    package func detach(from loop: EventLoop) {}
    package func reopenAfterFork() {}
    package func receive(_ event: EventLoop.Event) {}
}
