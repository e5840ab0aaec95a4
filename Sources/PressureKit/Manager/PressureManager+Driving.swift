import PressureSystem

/// Driving a manager by hand, in place of ``PressureManager/run()``: for a clock that stands still unless it is moved.
///
/// With ``PressureConfiguration/isSequential`` everything that follows from a call has happened when it returns.
extension PressureManager {
    /// Takes one sample of each source. A decision is carried out, reclaim included, before this returns. Blocks.
    ///
    /// - Returns: how long to wait before the next sample at most.
    package func drive() -> Duration {
        defer { reclaim.waitUntilIdle() }
        return monitor.drive()
    }

    /// Does a slice of what is to be done in idle time, if memory is not short. Blocks.
    ///
    /// - Returns: how long to pause before the next slice; `nil` when there is nothing to do before the next sample.
    package func driveCleaning() -> Duration? {
        reclaim.waitUntilIdle()
        return context.cleaner?.step() ?? nil
    }

    /// Does what goes on beside its callers otherwise, such as restoring ahead what has appeared. Blocks.
    package func driveDeferredWork() {
        reclaim.waitUntilIdle()
        context.runDeferred()
    }

    /// The bytes of all values by where they are. Takes time in proportion to their number, and allocates nothing.
    package var tiers: PressureSnapshot.Tiers {
        var sum = PressureSnapshot.Tiers()
        PressureController.hierarchy.withLock { _ in root.forEachEntry { sum += $0.tiers } }
        return sum
    }

    /// The same, and what of that in memory could go how. Takes as long, and allocates nothing either.
    package var standing: PressureSnapshot.Standing {
        var sum = PressureSnapshot.Standing()
        PressureController.hierarchy.withLock { _ in root.forEachEntry { sum += $0.standing } }
        return sum
    }

    /// What copies take that are in the saved state from which values were restored.
    package var restoredStateBytes: ByteCount { ByteCount(bytes: restoration.storedByteCount) }

    /// What admission has done so far.
    package var admissionCounts: AdmissionCounts { context.admission.counts }

    /// What the spill file and the compressed tier hold now. One system call.
    package var spillUsage: (stored: ByteCount, file: ByteCount?, compressed: ByteCount) {
        let usage = context.engine.file.usage()
        return (
            ByteCount(bytes: usage.storedBytes),
            usage.allocatedBytes.map(ByteCount.init),
            ByteCount(bytes: context.engine.memory?.usage().occupiedBytes ?? 0)
        )
    }
}
