import CLinuxShims
import Glibc
package import PressureSystem
import Synchronization

/// The boards of the limits that bind a process: joined when a limit is first seen, left when it is gone or the monitor stops.
package final class Neighbours: LoopGuest {
    /// Joins the board of a cgroup, or says why not.
    package typealias Opening = @Sendable (_ cgroup: String) throws(BoardFile.Refusal) -> any BoardStore

    /// Those boards by place; replaced when one is joined or left.
    private final class Plan: Sendable {
        let seatings: [Seating?]

        init(_ seatings: [Seating?]) { self.seatings = seatings }
    }

    private struct Seat {
        var source: String
        let seating: Seating
        var board: Board { seating.board }
        var limit = 0
        /// Readable when others notify; -1 for none, as where the board is no file.
        var bell: CInt
        var isWatched = false
        /// What was left at the last exchange, and what this process had.
        var available = -1
        var heap = 0
        var books = MemoryBooks.Reading()
        /// Whether the newest sample brought nothing new: then the next one begins without a look.
        var isQuiet = false
        /// What the others had brought before the sample that is being taken; or when it was exchanged, if it began without a
        /// look: what they gave back meanwhile must not count without what they brought.
        var brought = 0
        /// Their books at that sample.
        var noted = MemoryBooks.Reading()

        /// Whether anything has changed since the last exchange: while nothing has, there is nothing to say and nothing to
        /// learn.
        mutating func isNews(_ headroom: Headroom, _ own: Board.Own) -> Bool {
            let isNew = abs(headroom.available.bytes - available) >= 1 << 20 || abs(own.heap - heap) >= 1 << 20
            guard isNew || own.books != books else { return false }
            (available, heap, books) = (headroom.available.bytes, own.heap, own.books)
            return true
        }

        func publish() { seating.numbers.store(.init(limit: limit, books: books, isQuiet: isQuiet, noted: noted)) }
    }

    private struct State {
        var seats: [Seat?] = []
        /// Boards that cannot be had are looked for again.
        var refusedAt: MonotonicInstant?
        var refusal: BoardFile.Refusal?
        var loop: EventLoop?
        /// A sample that is under way when the monitor stops joins nothing any more.
        var isStopped = false
        var notifiedAt: MonotonicInstant?
        var isNotified = false
    }

    private let share: MemoryShare
    private let thresholds: PressureThresholds
    private let own: OwnMemory
    private let open: Opening
    /// The monitor's. Who loads looks at ``plan``, and takes no lock.
    private let state = Lock(State())
    private let plan = AtomicReference<Plan>()
    /// Whether anybody shares a limit with this process: while nobody does, nobody waits for a lock to learn that.
    private let hasCompany = Atomic<Bool>(false)

    /// How long after a refusal it is tried again.
    private static let retry = Duration.seconds(5)
    /// Notifications are heard no more often: whoever notifies without end gets nobody's processor.
    private static let rest = Duration.milliseconds(5)

    /// Meets nobody yet.
    package init(
        share: MemoryShare,
        thresholds: PressureThresholds,
        books: MemoryBooks,
        process: ProcessMemory,
        open: @escaping Opening
    ) {
        self.share = share
        self.thresholds = thresholds
        own = OwnMemory(books: books, process: process)
        self.open = open
    }

    /// Boards in files, where this machine has them.
    package static func files(_ context: SignalContext) -> Opening {
        let directories = directories(context)
        return { (cgroup: String) throws(BoardFile.Refusal) in try BoardFile(of: cgroup, in: directories) }
    }

    /// Where such files are, the best first.
    static func directories(_ context: SignalContext) -> [String] {
        let runtime = context.environment?["XDG_RUNTIME_DIR"] ?? ""
        return (["/dev/shm"] + (runtime.hasPrefix("/") ? [runtime] : []) + ["/tmp"]).map(context.path)
    }

    deinit {
        state.withLock { state in
            for place in state.seats.indices { leave(place, &state) }
        }
    }

    // MARK: With each sample

    /// A sample begins: what comes from now on may be in it or not.
    package func begin(at now: MonotonicInstant) {
        state.withLock { state in
            for place in state.seats.indices {
                guard let seat = state.seats[place], !seat.isQuiet else { continue }
                if seat.board.count > 0 { seat.board.look(at: now) }
                state.seats[place]?.brought = seat.board.othersBooks.brought
            }
        }
    }

    /// The readings of a sample: joins and leaves, says what there is to say, and adds to them what the others have.
    ///
    /// - Parameter heap: What is free in the process's own heap. It is not divided: who has it gives it back. Others count on it.
    package func exchange(
        _ readings: inout [SignalReading?],
        reclaimable: Int,
        held: Int,
        heap: Int = 0,
        resident: Int?,
        at now: MonotonicInstant
    ) {
        state.withLock { state in
            if state.seats.isEmpty { state.seats = Array(repeating: nil, count: readings.count) }
            for place in readings.indices {
                guard let reading = readings[place], reading.origin == .cgroup, let headroom = reading.headroom else {
                    leaveIfGone(place, readings[place], &state)
                    continue
                }
                let hadSeat = state.seats[place]?.source == reading.source
                guard sit(place, reading.source, &state, at: now), var seat = state.seats[place] else { continue }
                let said = own.said(
                    reclaimable: reclaimable,
                    held: held,
                    heap: heap,
                    resident: resident,
                    underWay: seat.seating.underWay
                )
                seat.limit = headroom.limit.bytes
                let hasLooked = !seat.isQuiet
                seat.isQuiet = !seat.isNews(headroom, said) && !state.isNotified
                if !seat.isQuiet {
                    // Where little is left it matters who is alive.
                    let reach: Board.Reach = headroom.available.bytes < headroom.limit.bytes / 2 ? .alive : .all
                    seat.board.exchange(limit: seat.limit, reach, at: now) { said }
                }
                // Those who were alone take what is free for theirs until they look.
                if !hadSeat, seat.board.count > 0 { seat.board.announce() }
                if !hasLooked { seat.brought = seat.board.othersBooks.brought }
                seat.noted = MemoryBooks.Reading(brought: seat.brought, returned: seat.board.othersBooks.returned)
                state.seats[place] = seat
                seat.publish()
                note(&readings[place], headroom, seat.board, said)
            }
            state.isNotified = false
            let isShared = state.seats.contains { $0.map { $0.board.count > 0 } ?? false }
            hasCompany.store(isShared, ordering: .relaxed)
            watch(&state, at: now)
        }
        plan.sweep()
    }

    /// What others could give back counts as available to a level, as this process's own does. What is free in their heaps counts
    /// as held: when values become that, nobody has taken anything.
    private func note(_ reading: inout SignalReading?, _ headroom: Headroom, _ board: Board, _ own: Board.Own) {
        guard board.count > 0 else { return }
        let others = board.others
        let used = max(0, headroom.limit.bytes - headroom.available.bytes - own.member.held)
        let held = min(others.held, used)
        let heap = min(others.heap, max(0, used - held - own.heap))
        reading?.note(
            reclaimable: .bytes(own.member.free + own.heap + min(others.free, held) + heap),
            held: .bytes(own.member.held + held + heap)
        )
        let leave = thresholds.bytes(of: headroom.limit).warningLeave.bytes
        let need = max(1 << 20, leave - headroom.available.bytes)
        reading?.ownPart = board.part(ofShortage: need, own.member)
    }

    // MARK: Between samples

    /// The books of the others below a limit, as of the newest sample; `nil` where this process is alone.
    package func noted(at place: Int) -> MemoryBooks.Reading? { shared(place)?.numbers.value.noted }

    /// What the others below a limit have brought and given back since an earlier reading of their books.
    ///
    /// - Parameter isWaitedFor: Whether it is for a load. Otherwise nobody looks where the newest sample brought nothing new and
    ///   nothing has come or gone since.
    package func change(
        at place: Int,
        since earlier: MemoryBooks.Reading,
        isWaitedFor: Bool,
        at now: MonotonicInstant
    ) -> MemoryBooks.Reading {
        // One who has just left may have given something back.
        seat(place)?.change(since: earlier, isWaitedFor: isWaitedFor, at: now) ?? MemoryBooks.Reading()
    }

    /// What this process is to free of so many bytes that are missing; `nil` where it is alone.
    ///
    /// - Parameter underWay: What it is bringing in.
    package func part(of need: Int, at place: Int, underWay: Int, at now: MonotonicInstant) -> Int? {
        shared(place)?.part(of: need, underWay: underWay, at: now)
    }

    /// How many processes share a limit, this one among them.
    package func sharers(at place: Int) -> Int { 1 + (seat(place)?.board.count ?? 0) }

    /// Says what this process is bringing in, before it is decided whether that fits, and what it holds; learns what others are
    /// bringing in: of two who decide at once one sees the other.
    ///
    /// - Parameter underWay: What it is bringing in, asked for when it is said, which another thread may do.
    /// - Returns: What the others are bringing in.
    package func tell(underWay: () -> Int, at place: Int, at now: MonotonicInstant) -> Int {
        shared(place)?.tell(underWay: underWay, at: now) ?? 0
    }

    /// What others are bringing in, as far as is known.
    package func underWay(at place: Int) -> Int { seat(place)?.board.others.underWay ?? 0 }

    /// Tells the others that so many bytes are missing.
    package func notify(at place: Int, need: Int, at now: MonotonicInstant) {
        seat(place)?.board.notify(need: need, at: now)
    }

    /// How a process stands among those that share a limit with it.
    package struct Standing: Hashable, Sendable {
        /// The others.
        package var count: Int
        /// Bytes of values that they hold.
        package var held: Int
        /// Bytes of values that this process may hold of what all hold now.
        package var budget: Int
    }

    /// How this process stands; `nil` where it is alone.
    package func standing(at place: Int) -> Standing? { shared(place)?.standing }

    /// Why a limit's processes cannot meet, as far as it was tried last.
    package var refusal: BoardFile.Refusal? { state.withLock { $0.refusal } }

    private func seat(_ place: Int) -> Seating? {
        guard hasCompany.load(ordering: .relaxed), let seatings = plan.object?.seatings, place < seatings.count else {
            return nil
        }
        return seatings[place]
    }

    /// One whose limit somebody shares.
    private func shared(_ place: Int) -> Seating? { seat(place).flatMap { $0.hasCompany ? $0 : nil } }

    /// A board was joined or left.
    private func publish(_ state: State) { plan.store(Plan(state.seats.map { $0?.seating })) }

    // MARK: Joining and leaving

    private func sit(_ place: Int, _ source: String, _ state: inout State, at now: MonotonicInstant) -> Bool {
        if state.seats[place]?.source == source { return true }
        leave(place, &state)
        guard !state.isStopped, state.refusedAt.map({ now - $0 >= Self.retry }) ?? true else { return false }
        do throws(BoardFile.Refusal) {
            let store = try open(source)
            let bell = (store as? BoardFile)?.watch() ?? -1
            if bell >= 0 { pk_close_in_children(bell) }
            let board = Board(store, share: share, process: getpid(), at: now)
            state.seats[place] = Seat(source: source, seating: Seating(board, own), bell: bell)
            publish(state)
            state.refusal = nil
            return true
        } catch {
            (state.refusedAt, state.refusal) = (now, error)
            return false
        }
    }

    /// A limit that is lifted, or a cgroup that the process has left.
    private func leaveIfGone(_ place: Int, _ reading: SignalReading?, _ state: inout State) {
        guard let reading, reading.headroom == nil, state.seats[place] != nil else { return }
        leave(place, &state)
    }

    private func leave(_ place: Int, _ state: inout State) {
        guard let seat = state.seats[place] else { return }
        unwatch(place, &state)
        if seat.bell >= 0 { pk_close_shared(seat.bell) }
        // Now, and not when the last thread that looks at it is done.
        seat.board.leave()
        state.seats[place] = nil
        publish(state)
    }

    // MARK: Waiting

    package func attach(to loop: EventLoop) {
        state.withLock { state in
            state.loop = loop
            state.isStopped = false
        }
    }

    package func detach(from loop: EventLoop) {
        state.withLock { state in
            guard state.loop === loop else { return }
            for place in state.seats.indices { leave(place, &state) }
            state.loop = nil
            state.isStopped = true
        }
    }

    package func receive(_ event: EventLoop.Event) {
        state.withLock { state in
            state.isNotified = true
            guard state.seats.indices.contains(event.tag), let seat = state.seats[event.tag] else { return }
            // Until the next sample at the earliest.
            unwatch(event.tag, &state)
            pk_drain(seat.bell)
        }
    }

    /// The descriptors are closed in the child already.
    package func reopenAfterFork() {
        state.withLock { state in
            state.seats = []
            state.loop = nil
            state.refusedAt = nil
            publish(state)
        }
    }

    /// When the monitor is to sample again for the sake of notifications that are not heard now; `nil` for no sooner than otherwise.
    package var deafness: Duration? {
        state.withLock { state in
            state.seats.contains { $0.map { $0.bell >= 0 && !$0.isWatched } ?? false } ? Self.rest : nil
        }
    }

    private func watch(_ state: inout State, at now: MonotonicInstant) {
        guard let loop = state.loop, state.notifiedAt.map({ now - $0 >= Self.rest }) ?? true else { return }
        for place in state.seats.indices {
            guard let seat = state.seats[place], seat.bell >= 0, !seat.isWatched else { continue }
            state.seats[place]?.isWatched = loop.watch(seat.bell, for: .readable, tag: place, receiver: self)
            state.notifiedAt = now
        }
    }

    private func unwatch(_ place: Int, _ state: inout State) {
        guard let seat = state.seats[place], seat.isWatched else { return }
        state.loop?.unwatch(seat.bell)
        state.seats[place]?.isWatched = false
    }
}
