import PressureSystem

/// One source's vote: its last reading, the level that follows from it, and when to look again. Pure.
///
/// A demand is the vote. Everything else is judged by its kind. A place whose source moves to something else (another
/// cgroup) forgets what it knew.
struct LevelEvaluator: Sendable {
    /// The last reading, whenever that was.
    private(set) var reading: SignalReading?
    /// Whether the reading came with the last step.
    private(set) var isFresh = false
    /// Whether the reading is too old to count.
    private(set) var isSilent = false
    /// Whether the last reading brought news that is worth a closer look for a while.
    private(set) var isAlarmed = false
    /// The level this source asks for.
    private(set) var vote = PressureLevel.normal
    /// How bad it is here, 0 … 1.
    private(set) var score = 0.0
    /// When to look again at the latest.
    private(set) var pollDelay: Duration

    private let thresholds: PressureThresholds
    private let timings: PressureTimings
    private var heardAt = MonotonicInstant(nanoseconds: 0)
    private(set) var headroomEvaluator: HeadroomEvaluator
    private(set) var stallEvaluator: StallEvaluator
    private(set) var eventsEvaluator = EventsEvaluator()

    init(thresholds: PressureThresholds, timings: PressureTimings) {
        self.thresholds = thresholds
        self.timings = timings
        headroomEvaluator = HeadroomEvaluator(thresholds: thresholds, timings: timings)
        stallEvaluator = StallEvaluator(thresholds: thresholds.stall)
        pollDelay = timings.longestPoll
    }

    /// The bytes left, when that is what the source measures and it still speaks.
    var headroom: Headroom? { isSilent ? nil : reading?.headroom }

    /// The thresholds that apply to the last reading; `nil` when it has no bytes.
    var bands: ThresholdBytes? { reading?.headroom.map { thresholds.bytes(of: $0.limit) } }

    /// The fastest that others have taken below a limit lately, or do now, in bytes a second; 0 on a host without one, whose
    /// marks lie far from the end.
    var surge: Double { isOfHost ? 0 : headroomEvaluator.surge }

    private var isOfHost: Bool { reading?.origin == .memoryInfo }

    /// What a full cache leaves free of what the last reading measured; `nil` when it has no bytes.
    ///
    /// - Parameter writing: Bytes that a reclaim itself takes.
    func marks(writing: Int) -> Watermarks? {
        guard let headroom = reading?.headroom else { return nil }
        if isOfHost { return Watermarks(host: thresholds.bytes(of: headroom.limit)) }
        return Watermarks(limit: headroom.limit, surge: surge, writing: writing)
    }

    /// The numbers behind the vote that are not bytes.
    var evidence: PressureCause.Evidence? {
        switch reading?.measure {
        case .headroom: headroomEvaluator.isForeseen ? headroomEvaluator.exhaustion.map { .exhaustion(in: $0) } : nil
        case .stall:
            (stallEvaluator.proof ?? stallEvaluator.latest).map {
                .stalled($0.stalled, within: $0.within, threshold: $0.threshold)
            }
        case .events:
            (eventsEvaluator.proof ?? eventsEvaluator.latest).map {
                .events(high: $0.high, max: $0.max, oom: $0.oom + $0.oomKill)
            }
        case .demand, nil: nil
        }
    }

    /// The bytes wanted at `level` of a process with so many resident bytes, by the last reading; `nil` when it does not
    /// say.
    func goal(at level: PressureLevel, resident: Int? = nil) -> ByteCount? {
        switch reading?.measure {
        case .headroom(let headroom):
            // What is foreseen is not there yet: at least a quarter of what is left.
            max(
                thresholds.bytes(of: headroom.limit).goal(available: headroom.available, at: level),
                headroomEvaluator.isForeseen ? ByteCount(bytes: headroom.available.bytes / 4) : .zero
            ).scaled(by: ownPart(resident: resident))
        case .demand(_, let bytes): bytes
        case .stall, .events, nil: nil
        }
    }

    /// The part of what is in use below a cgroup's limit that is a process's with so many resident bytes; 1 where nobody
    /// says, and elsewhere.
    ///
    /// Processes below one limit that each free their part free, together, what is needed once. The host's memory is not
    /// divided: hardly anybody else there would free any.
    func ownPart(resident: Int?) -> Double {
        if let agreed = reading?.ownPart { return agreed }
        guard let resident, let reading, let headroom = reading.headroom, reading.origin == .cgroup else { return 1 }
        let used = headroom.limit.bytes - headroom.available.bytes
        return used > resident ? Double(max(0, resident)) / Double(used) : 1
    }

    /// Takes the next reading, or none.
    ///
    /// - Parameters:
    ///   - left: The memory that is left, over all sources.
    ///   - reclaimTime: How long a reclaim takes, as far as is known.
    mutating func accept(
        _ next: SignalReading?,
        left: MemoryLeft,
        reclaimTime: Duration,
        at now: MonotonicInstant
    ) {
        isFresh = next != nil
        guard let next else {
            if !isSilent, now - heardAt >= timings.silence { fallSilent() }
            return
        }
        if let reading, reading.source != next.source {
            self = LevelEvaluator(thresholds: thresholds, timings: timings)
            isFresh = true
        }
        reading = next
        heardAt = now
        isAlarmed = false
        isSilent = false
        switch next.measure {
        case .demand(let level, _):
            take(level)
        case .headroom(let measured):
            headroomEvaluator.accept(measured, isWatched: next.isWatched, reclaimTime: reclaimTime, at: now)
            (vote, score, pollDelay) = (headroomEvaluator.vote, headroomEvaluator.score, headroomEvaluator.pollDelay)
        case .stall(let stall):
            stallEvaluator.accept(stall, left: left, at: now)
            take(stallEvaluator.vote)
            isAlarmed = (stall.hasFired || stall.hasFiredEarly) && stallEvaluator.counts(stall, left: left)
            if let expiry = stallEvaluator.expiry { pollDelay = min(pollDelay, max(expiry - now, timings.alertPoll)) }
        case .events(let counters):
            eventsEvaluator.accept(counters, headroom: left.least, at: now)
            take(eventsEvaluator.vote)
            isAlarmed = eventsEvaluator.hasGrown
            if let expiry = eventsEvaluator.expiry { pollDelay = min(pollDelay, max(expiry - now, timings.alertPoll)) }
        }
    }

    private mutating func take(_ level: PressureLevel) {
        vote = level
        score = Double(level.rawValue) / 3
        pollDelay = timings.longestPoll
    }

    private mutating func fallSilent() {
        let (thresholds, timings, last) = (thresholds, timings, reading)
        self = LevelEvaluator(thresholds: thresholds, timings: timings)
        reading = last
        isSilent = true
    }
}

extension ByteCount {
    /// A part of it, rounded up.
    fileprivate func scaled(by part: Double) -> ByteCount {
        part < 1 ? ByteCount(bytes: Int((Double(bytes) * part).rounded(.up))) : self
    }
}
