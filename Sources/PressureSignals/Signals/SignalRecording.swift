package import PressureSystem

/// What a monitor's classifier was told, in order: enough to make it decide the same again.
///
/// ## The text
///
/// One event a line; blanks separate fields; `#` begins a comment line. Times are nanoseconds since the recording began,
/// bytes are bytes, everything is a decimal number unless said otherwise.
///
/// ```
/// pressurekit-signals 1
/// slot 0 meminfo /proc/meminfo
/// slot 1 cgroup /sys/fs/cgroup/app
/// slot 2 psi /sys/fs/cgroup/app/memory.pressure
/// slot 3 memory.events /sys/fs/cgroup/app/memory.events
/// sample 0 0=headroom:8123456789/16000000000 1=headroom:200000000/268435456:watched
/// sample 250000000 2=stall:own:1200/300:5.10/0.00:armed:rang 3=events:4/0/0/0
/// sample 300000000 4=demand:critical:1048576 1=headroom:50000000/268435456:age=1500000
/// reclaim 420000000 critical 110000000 67108864
/// freed 500000000 4096
/// ```
///
/// - `slot NUMBER ORIGIN SOURCE` says what a place stands for from here on; a source's blanks, backslashes and control
///   bytes are written `\ooo`, three octal digits, as in /proc/self/mountinfo. It can come again when a source moves.
/// - `sample TIME READINGS…` is one step. A place that is missing had no news. A reading is
///   `headroom:AVAILABLE/LIMIT`, `…/UNWRITTEN` or `…/UNWRITTEN/KEPT`, `demand:LEVEL` or `demand:LEVEL:BYTES`,
///   `stall:SCOPE:SOME/FULL:SOMEAVERAGE/FULLAVERAGE` (microseconds in all, `-` where there is no `full` line; per cent
///   with two decimals; `own`, `above` or `host`), or `events:HIGH/MAX/OOM/OOMKILL`. After it may come `:armed`,
///   `:rang` (a trigger did, since the sample before), `:early` (one that fires on the way to it did), `:watched` (the
///   kernel wakes the monitor at the next threshold) and `:age=NANOSECONDS` (the reading is older than the step).
/// - `reclaim TIME LEVEL DURATION RETURNED` is a reclaim that ended, `freed TIME BYTES` memory returned otherwise.
package struct SignalRecording: Hashable, Sendable {
    /// One event.
    package enum Event: Hashable, Sendable {
        /// A step and its readings by place; only places with news.
        case sample(at: MonotonicInstant, [Placed])
        /// A reclaim ended.
        case reclaim(PressureLevel, duration: Duration, returned: ByteCount, at: MonotonicInstant)
        /// Memory was returned to the system otherwise.
        case freed(ByteCount, at: MonotonicInstant)

        /// When it was.
        package var at: MonotonicInstant {
            switch self {
            case .sample(let at, _), .reclaim(_, _, _, let at), .freed(_, let at): at
            }
        }
    }

    /// A reading and its place.
    package struct Placed: Hashable, Sendable {
        /// The place, from 0.
        package var place: Int
        /// The reading.
        package var reading: SignalReading

        /// Creates a placed reading.
        package init(place: Int, reading: SignalReading) {
            self.place = place
            self.reading = reading
        }
    }

    /// The first line of every recording.
    package static let header = "pressurekit-signals 1"
    /// No line may be longer, in bytes.
    package static let longestLine = 16_384
    /// No recording may have more lines: at ten a second, eleven days.
    package static let mostLines = 10_000_000
    /// No recording may have more bytes: what is made of them takes several times as many.
    package static let mostBytes = 256 << 20
    /// There are no more places than this.
    package static let mostPlaces = 256

    /// The number of places.
    package var places: Int
    /// What happened, in order of time.
    package var events: [Event]

    /// Creates a recording.
    package init(places: Int = 0, events: [Event] = []) {
        self.places = places
        self.events = events
    }
}
