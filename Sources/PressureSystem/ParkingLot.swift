import Synchronization

/// Where readers sleep until a slot changes.
///
/// A slot has one bit that says somebody sleeps; who, is kept here, by the slot's address. So waiting costs a cache
/// entry no memory of its own. The idea is WebKit's parking lot (WTF::ParkingLot): the sleeper enqueues itself only if
/// the slot still has the bit set, checked under the bucket's lock, and the waker clears the bit before it takes that
/// lock; so no wake-up is lost. One for the process: nothing stays in it but sleepers, under addresses nobody else has.
package enum ParkingLot {
    /// What the sleeper is told.
    package enum Outcome: Sendable {
        /// The slot changed: look again.
        case changed
        /// The load it was waiting for failed with this error.
        case failed(any Error)
        /// Its task was cancelled. Told only to who asked for that.
        case cancelled
    }

    /// Resumed once, by whoever takes it out of its bucket.
    private enum Sleeper: Sendable {
        case thread(ConditionLock<Outcome?>)
        case task(Suspended<Outcome>)
    }

    private struct Parked: Sendable {
        let address: UInt
        let sleeper: Sleeper
        /// By which a cancellation finds it; 0 of those that none wakes.
        var ticket: UInt64 = 0
    }

    private static let tickets = Atomic<UInt64>(0)

    private final class Bucket: Sendable {
        let parked = Lock<[Parked]>([])
    }

    private static let buckets = (0..<64).map { _ in Bucket() }

    private static func bucket(for address: UInt) -> Bucket {
        // Fibonacci hashing; slots are at least 64 bytes apart.
        buckets[Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> 58)]
    }

    /// Puts the calling thread to sleep on `address` if `stillWaiting` holds. Blocks; for threads that may.
    package static func park(on address: UInt, while stillWaiting: () -> Bool) -> Outcome {
        let gate = ConditionLock<Outcome?>(nil)
        let isParked = bucket(for: address).parked.withLock { parked in
            guard stillWaiting() else { return false }
            parked.append(Parked(address: address, sleeper: .thread(gate)))
            return true
        }
        return isParked ? gate.wait { $0 } : .changed
    }

    /// Suspends the calling task on `address` if `stillWaiting` holds. Never blocks a thread.
    package static func park(on address: UInt, while stillWaiting: () -> Bool) async -> Outcome {
        // Resumed exactly once: by `unpark`, which removes it first, or here when it was never enqueued.
        await Suspended.wait { task in
            let isParked = bucket(for: address).parked.withLock { parked in
                guard stillWaiting() else { return false }
                parked.append(Parked(address: address, sleeper: .task(task)))
                return true
            }
            if !isParked { task.resume(returning: .changed) }
        }
    }

    /// The same, until the task is cancelled: `cancelled` then, at once.
    package static func parkUnlessCancelled(on address: UInt, while stillWaiting: () -> Bool) async -> Outcome {
        let ticket = tickets.wrappingAdd(1, ordering: .relaxed).newValue
        return await withTaskCancellationHandler {
            // Resumed exactly once: by whoever takes it out of its bucket, or here when it was never enqueued.
            await Suspended.wait { task in
                let refusal = bucket(for: address).parked.withLock { parked -> Outcome? in
                    // A task is marked before its handler runs: one that is cancelled later is found in the bucket.
                    if Task.isCancelled { return .cancelled }
                    guard stillWaiting() else { return .changed }
                    parked.append(Parked(address: address, sleeper: .task(task), ticket: ticket))
                    return nil
                }
                if let refusal { task.resume(returning: refusal) }
            }
        } onCancel: {
            let woken = bucket(for: address).parked.withLock { parked in
                parked.firstIndex { $0.ticket == ticket }.map { parked.remove(at: $0) }
            }
            if case .task(let task)? = woken?.sleeper { task.resume(returning: .cancelled) }
        }
    }

    /// Wakes all that sleep on `address`. Called after the slot's word has changed, with no lock held.
    package static func unpark(_ address: UInt, outcome: Outcome = .changed) {
        let woken = bucket(for: address).parked.withLock { parked in
            let woken = parked.filter { $0.address == address }
            if !woken.isEmpty { parked.removeAll { $0.address == address } }
            return woken
        }
        for waiting in woken {
            switch waiting.sleeper {
            case .thread(let gate): gate.withLock { $0 = outcome }
            case .task(let task): task.resume(returning: outcome)
            }
        }
    }
}
