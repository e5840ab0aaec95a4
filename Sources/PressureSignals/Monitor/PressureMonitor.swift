public import PressureSystem
import Synchronization

/// Watches the sources on a thread of its own and says when the level changes or memory should be freed.
///
/// The thread is the library's, not the cooperative pool's: that pool may be full exactly when memory is short. All
/// methods are safe from any thread and none waits for the monitor's thread.
public final class PressureMonitor: Sendable {
    /// What a step saw, for those who record or show it.
    package struct Sample: Sendable {
        /// When the step was decided.
        package let at: MonotonicInstant
        /// By place; `nil` where there was no news.
        package let readings: [SignalReading?]
        /// What was decided, if anything.
        package let decision: PressureDecision?
        /// How long to wait before the next step at most.
        package let nextPoll: Duration
    }

    /// What an observer is told.
    package enum Observation: Sendable {
        /// A step was made.
        case sample(Sample)
        /// A reclaim ended at an instant.
        case reclaim(PressureLevel, duration: Duration, returned: ByteCount, at: MonotonicInstant)
        /// Bytes were returned to the system in another way.
        case freed(ByteCount, at: MonotonicInstant)
    }

    private let sources: [any SignalSource]
    /// The sources, and who else takes part in the loop.
    private let guests: [any LoopGuest]
    private let clock: any MonotonicClock
    private let deliver: @Sendable (PressureDecision) -> Void
    private let sampled: @Sendable () -> Void
    private let observe: (@Sendable (Observation) -> Void)?
    /// As many places a source as it has readings. Held for the length of a step, so that steps do not overlap.
    private let readings: Lock<[SignalReading?]>
    private let classifier: Lock<PressureClassifier>
    /// Read with every load, by threads that may get no processor: behind a lock they would keep the monitor waiting.
    private let room = Published<AdmissionRoom?>(nil)
    private let books: MemoryBooks
    private let process: ProcessMemory
    /// Those who share a limit with this process; `nil` for nobody.
    package let neighbours: Neighbours?
    /// When the last sample was decided in which no source spoke for a level; 0 before.
    private let overAt = Atomic<Int64>(0)
    /// What the running thread waits on; `nil` while stopped.
    private let running = Lock<EventLoop?>(nil)
    /// Whether there is one, or the monitor is driven.
    private let isRunning = Atomic<Bool>(false)
    /// Whether somebody takes the samples in place of the thread.
    private let isDriven = Atomic<Bool>(false)
    /// Whether the next sample is wanted now, and has not begun.
    private let isWoken = Atomic<Bool>(false)

    /// Creates a monitor at level normal. Nothing is watched before `start()`.
    ///
    /// - Parameters:
    ///   - guests: who else has descriptors watched while the monitor runs, and wakes it.
    ///   - books: What the library brings into memory and gives back; noted with each sample.
    ///   - process: What the process itself has in memory.
    ///   - neighbours: Who shares limits with this process.
    ///   - sampled: Called after each step, on its thread, with no lock held.
    ///   - observe: Called for all that the classifier learns, in the order in which it does, on the thread that tells
    ///     it. It may block the monitor, and must not call it.
    ///   - deliver: Called for each decision, on the thread of the step, with no lock held. The next step follows when
    ///     it returns.
    /// - Throws: ``PressureError`` with code `invalidConfiguration` when the thresholds contradict each other.
    package init(
        sources: [any SignalSource],
        thresholds: PressureThresholds = .init(),
        timings: PressureTimings = .init(),
        clock: any MonotonicClock = SystemClock(),
        guests: [any LoopGuest] = [],
        books: MemoryBooks = MemoryBooks(),
        process: ProcessMemory = ProcessMemory(),
        neighbours: Neighbours? = nil,
        sampled: @escaping @Sendable () -> Void = {},
        observe: (@Sendable (Observation) -> Void)? = nil,
        deliver: @escaping @Sendable (PressureDecision) -> Void
    ) throws(PressureError) {
        try thresholds.validate()
        self.sources = sources
        self.guests = sources + guests + (neighbours.map { [$0] } ?? [])
        self.neighbours = neighbours
        self.clock = clock
        self.books = books
        self.process = process
        self.observe = observe
        self.deliver = deliver
        self.sampled = sampled
        let width = sources.reduce(0) { $0 + $1.width }
        readings = Lock(Array(repeating: nil, count: width))
        classifier = Lock(PressureClassifier(thresholds: thresholds, timings: timings, sources: width))
    }

    deinit { stop() }

    /// The level now. Does not block.
    public var level: PressureLevel { classifier.withLock { $0.level } }

    /// How bad it is at the last sample, 0 … 1: warning begins at 1/3, critical at 2/3.
    package var score: Double { classifier.withLock { $0.score } }

    /// The bytes left of the limit that binds most, at the last sample; `nil` before the first.
    package var headroom: Headroom? { classifier.withLock { $0.headroom } }

    /// How this process stands among those that share the nearest limit with it; `nil` where it is alone.
    package var standing: Neighbours.Standing? {
        guard let neighbours, let place = room.value?.place else { return nil }
        return neighbours.standing(at: place)
    }

    /// How far the nearest limit was from its watermarks at the last sample; `nil` while the monitor does not run.
    package var admissionRoom: AdmissionRoom? { isRunning.load(ordering: .relaxed) ? room.value : nil }

    /// The same after a sample that is taken now: on the monitor's thread, which is waited for some milliseconds at most,
    /// so that decisions are delivered by one thread and in order. Where the monitor is driven by hand, on this one.
    package func refreshedAdmissionRoom() -> AdmissionRoom? {
        guard isRunning.load(ordering: .relaxed) else { return nil }
        if isDriven.load(ordering: .relaxed) {
            tick()
            return admissionRoom
        }
        let start = clock.now()
        wake()
        return books.wait(atMost: Self.patience) { () -> AdmissionRoom? in
            guard let room = admissionRoom, room.takenAt >= start else { return nil }
            return room
        } ?? admissionRoom
    }

    /// How long a reader waits for a sample: the thread is asleep, and woken, or at work on one.
    private static let patience = Duration.milliseconds(10)

    /// Whether a sample that was taken after an instant, and decided, speaks for no level any more. Asks for another one.
    package func isOver(since instant: MonotonicInstant) -> Bool {
        if overAt.load(ordering: .relaxed) > instant.nanoseconds { return true }
        wake()
        return false
    }

    /// Takes a sample as ``tick()`` does, for a monitor that is never started: from now on it counts as running.
    ///
    /// - Returns: how long to wait before the next one at most; nothing if it was asked for meanwhile.
    package func drive() -> Duration {
        isDriven.store(true, ordering: .relaxed)
        isRunning.store(true, ordering: .relaxed)
        let next = step()
        return isWoken.load(ordering: .relaxed) ? .zero : next
    }

    /// What works and what does not, source by source. May allocate and read files.
    public var statuses: [SignalStatus] { sources.flatMap(\.statuses) }

    /// All votes, by place, of the last step; places that have never spoken are left out.
    package var votes: [PressureClassifier.Vote] {
        let count = readings.withLock { $0.count }
        return classifier.withLock { classifier in
            (0..<count).map(classifier.vote).filter { $0.reading != nil }
        }
    }

    /// Begins to watch; does nothing when it already does. The first sample is taken at once, on the monitor's thread.
    ///
    /// The thread does not keep the monitor alive: releasing it ends the thread.
    ///
    /// In the child of a fork(2) the thread is missing and the descriptors are the parent's: start it again there, and all
    /// is opened anew. Do that on a thread that the child has made, for the standard library's locks know the others by
    /// the parent's numbers.
    ///
    /// - Throws: ``PressureError`` with code `threadUnavailable` or `signalUnavailable` (no descriptor left). The monitor
    ///   is then stopped, and may be started again.
    public func start() throws(PressureError) {
        try running.withLock { (running: inout EventLoop?) throws(PressureError) in
            if let loop = running, loop.isInherited {
                // The child of a fork(2): the thread is the parent's, and so are the descriptors.
                for guest in guests {
                    guest.detach(from: loop)
                    guest.reopenAfterFork()
                }
                running = nil
                isRunning.store(isDriven.load(ordering: .relaxed), ordering: .relaxed)
            }
            guard running == nil else { return }
            let loop = try EventLoop()
            for guest in guests { guest.attach(to: loop) }
            // Before the first sample can be seen: whoever has seen it takes for granted that loads are held against it.
            isRunning.store(true, ordering: .relaxed)
            do throws(PressureError) {
                try WorkerThread.spawn("pk-monitor") { [weak self] in
                    ThreadPriority().set(isUrgent: true)
                    // The monitor is held for the length of a step only.
                    while let limit = self?.step(), loop.wait(upTo: limit) {}
                }
            } catch {
                isRunning.store(isDriven.load(ordering: .relaxed), ordering: .relaxed)
                for guest in guests { guest.detach(from: loop) }
                throw error
            }
            running = loop
        }
    }

    /// Watches no longer; the level stays what it is. A decision may still be delivered when this returns, no step
    /// begins any more after that one. May be called from `deliver`.
    public func stop() {
        running.withLock { running in
            guard let loop = running.take() else { return }
            isRunning.store(isDriven.load(ordering: .relaxed), ordering: .relaxed)
            for guest in guests { guest.detach(from: loop) }
            loop.finish()
        }
    }

    /// Has the next sample taken now, for instance because much was loaded. Does nothing while stopped.
    package func wake() {
        // Who woke it before it looked has woken it for all.
        guard !isWoken.exchange(true, ordering: .sequentiallyConsistent) else { return }
        running.withLock { $0?.wake() }
    }

    /// The same for who waits by ``MemoryBooks``, which are woken after each sample.
    ///
    /// - Returns: Whether one comes; not while stopped, nor where the monitor is driven by hand.
    package func ask() -> Bool {
        guard isRunning.load(ordering: .relaxed), !isDriven.load(ordering: .relaxed) else { return false }
        wake()
        return true
    }

    /// The next of its samples: what is asked for from here on is asked for anew. One that a reader takes by hand is none.
    private func step() -> Duration {
        isWoken.store(false, ordering: .sequentiallyConsistent)
        return tick()
    }

    /// Takes one sample of each source and delivers the decision, if there is one. The body of the monitor's loop: call
    /// it only to drive a monitor that is not started.
    ///
    /// - Returns: How long to wait before the next step at most.
    @discardableResult package func tick() -> Duration {
        let (decision, nextPoll) = readings.withLock { readings in
            // What comes while the sources are read may be in the sample or not, and what goes likewise: so that it is never
            // taken for more than there is, one is noted before and the other after.
            let begun = clock.now()
            let brought = books.reading.brought
            neighbours?.begin(at: begun)
            var first = 0
            for index in sources.indices {
                sources[index].sample(at: clock.now(), into: &readings, from: first)
                first += sources[index].width
            }
            var reading = books.reading
            reading.brought = brought
            let (reclaimable, held) = (process.reclaimable(), max(0, reading.resident))
            let heap = process.heap()
            for index in readings.indices {
                readings[index]?.note(
                    reclaimable: .bytes(reclaimable + heap.reclaimable),
                    held: .bytes(held),
                    entrusted: .bytes(reading.entrusted)
                )
            }
            let own = process.resident?()
            let writing = process.writing()
            let now = clock.now()
            neighbours?.exchange(
                &readings,
                reclaimable: reclaimable,
                held: held,
                heap: heap.reclaimable,
                resident: own,
                at: now
            )
            return classifier.withLock { classifier in
                let (decision, limit) = classifier.step(readings, at: now, resident: own)
                let nextPoll = min(limit, neighbours?.deafness ?? limit)
                var newest = classifier.admissionRoom(writing: writing)
                if newest?.isNarrow ?? false { newest?.count(heap) }
                if let place = newest?.place { newest?.others = neighbours?.noted(at: place) }
                room.store(newest?.noted(reading, after: begun, before: room.value))
                if classifier.isOver { overAt.store(now.nanoseconds, ordering: .relaxed) }
                if let observe {
                    observe(.sample(Sample(at: now, readings: readings, decision: decision, nextPoll: nextPoll)))
                }
                return (decision, nextPoll)
            }
        }
        books.wake()
        if let decision { deliver(decision) }
        sampled()
        return nextPoll
    }

    /// Tells of a reclaim that ended now, whoever asked for it. Its cost and yield set the pause before the next wish, and
    /// its bytes are taken off goals from samples before it.
    ///
    /// - Parameters:
    ///   - level: The level it was made for; `normal` for one that pressure did not cause.
    ///   - duration: How long it took.
    ///   - returned: What the system got back.
    package func noteReclaim(at level: PressureLevel, duration: Duration, returned: ByteCount) {
        let end = clock.now()
        classifier.withLock { classifier in
            classifier.noteReclaim(at: level, duration: duration, returned: returned, end: end)
            observe?(.reclaim(level, duration: duration, returned: returned, at: end))
        }
        wake()
    }

    /// Tells of bytes returned to the system just now in any other way than a reclaim.
    package func noteFreed(_ bytes: ByteCount) {
        let now = clock.now()
        classifier.withLock { classifier in
            classifier.noteFreed(bytes, at: now)
            observe?(.freed(bytes, at: now))
        }
    }
}
