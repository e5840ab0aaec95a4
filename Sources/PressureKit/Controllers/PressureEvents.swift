import PressureSignals
import PressureSystem
import Synchronization

/// What happens in a manager, for whoever wants to watch.
public enum PressureEvent: Sendable {
    /// The level changed, in either direction.
    case levelChanged(PressureCause)
    /// Memory is short; delivered before any controller is told.
    case memoryWarning(MemoryWarning)
    /// A reclaim has ended.
    case reclaimFinished(EvictionReport)
    /// What was visible has been restored.
    case restoreFinished(RestoreReport)
    /// Something failed outside a reclaim, whose report has its own failures:
    ///
    /// - A copy could not be read, and the value was loaded again, or its reader got this error.
    /// - A value could not be spilled while its cache was kept below a limit, and stays in memory: `spillFailed`
    ///   or `diskFull`, at most once a second.
    /// - Without a path: the spill disk failed after it had taken writes, and what a loader makes may have lost its copies.
    case failure(PressureError)
}

/// The events of a manager from the moment of subscription, for one consumer.
///
/// ```swift
/// for await event in manager.events { … }
/// ```
///
/// Ends when the manager is shut down or released. A consumer that falls behind by more than 256 events loses the oldest
/// ones; nothing in the library ever waits for it.
public struct PressureEvents: AsyncSequence, Sendable {
    let mailbox: Mailbox

    /// Starts to iterate. A second iterator shares the events with the first one.
    public func makeAsyncIterator() -> Iterator { Iterator(mailbox: mailbox) }

    /// The state of one iteration.
    public struct Iterator: AsyncIteratorProtocol {
        let mailbox: Mailbox

        /// The next event; `nil` when there will be none any more, or the task is cancelled. Suspends meanwhile.
        public mutating func next() async -> PressureEvent? { await mailbox.next() }
    }
}

/// Up to 256 events on their way to one consumer, in room that is reserved when it subscribes: telling of a warning
/// happens on the way to freeing memory, so it allocates nothing.
final class Mailbox: Sendable {
    private static let capacity = 256

    private struct State {
        var ring: [PressureEvent?] = Array(repeating: nil, count: Mailbox.capacity)
        var first = 0
        var count = 0
        /// Resumed by whoever takes it out.
        var waiting: Suspended<Void>?
        var isFinished = false

        mutating func push(_ event: PressureEvent) {
            if count == Mailbox.capacity {
                ring[first] = nil
                first = (first + 1) % Mailbox.capacity
                count -= 1
            }
            ring[(first + count) % Mailbox.capacity] = event
            count += 1
        }

        mutating func pop() -> PressureEvent? {
            guard count > 0 else { return nil }
            defer {
                ring[first] = nil
                first = (first + 1) % Mailbox.capacity
                count -= 1
            }
            return ring[first]
        }
    }

    private let state = Lock(State())

    func deliver(_ event: PressureEvent) { change { $0.push(event) } }

    func finish() { change { $0.isFinished = true } }

    private func change(_ body: (inout sending State) -> Void) {
        let waiting = state.withLock { state in
            body(&state)
            return state.waiting.take()
        }
        waiting?.resume()
    }

    func next() async -> PressureEvent? {
        while !Task.isCancelled {
            let (event, isFinished) = state.withLock { ($0.pop(), $0.isFinished) }
            if event != nil || isFinished { return event }
            await withTaskCancellationHandler {
                await Suspended.wait { task in
                    let previous = state.withLock { state -> Suspended<Void>? in
                        guard state.count == 0, !state.isFinished, !Task.isCancelled else { return task }
                        defer { state.waiting = task }
                        return state.waiting
                    }
                    // Either this one, because there is something to look at, or a second consumer's.
                    previous?.resume()
                }
            } onCancel: {
                change { _ in }
            }
        }
        return nil
    }
}

/// The subscribers of one manager.
final class EventHub: Sendable {
    private struct Subscriber { weak var mailbox: Mailbox? }

    private let subscribers = Lock<[Subscriber]>([])
    private let isFinished = Atomic<Bool>(false)

    deinit { finish() }

    func subscribe() -> PressureEvents {
        let mailbox = Mailbox()
        subscribers.withLock { subscribers in
            subscribers.removeAll { $0.mailbox == nil }
            subscribers.append(Subscriber(mailbox: mailbox))
        }
        // After the end, or at the same time as it: nothing more will come.
        if isFinished.load(ordering: .sequentiallyConsistent) { mailbox.finish() }
        return PressureEvents(mailbox: mailbox)
    }

    /// Delivers an event to all. Allocates nothing.
    func deliver(_ event: PressureEvent) {
        let subscribers = subscribers.withLock { $0 }
        // By index: an array's iterator allocates in a debug build.
        for index in 0..<subscribers.count { subscribers[index].mailbox?.deliver(event) }
    }

    /// Ends all subscriptions.
    func finish() {
        isFinished.store(true, ordering: .sequentiallyConsistent)
        let subscribers = subscribers.withLock { $0 }
        for subscriber in subscribers { subscriber.mailbox?.finish() }
    }
}
