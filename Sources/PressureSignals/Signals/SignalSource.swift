package import PressureSystem

/// Something that can say how short memory is.
package protocol SignalSource: LoopGuest {
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

    /// What works here and what does not. May allocate. The default says that the source can be read.
    var statuses: [SignalStatus] { get }
}

extension SignalSource {
    package var width: Int { 1 }
    package func sample(at now: MonotonicInstant) -> SignalReading? { nil }
    package func sample(at now: MonotonicInstant, into readings: inout [SignalReading?], from first: Int) {
        readings[first] = sample(at: now)
    }
    package var statuses: [SignalStatus] {
        [SignalStatus(origin: .simulated, source: name, state: .available, detail: "Asked with each sample.")]
    }
}
