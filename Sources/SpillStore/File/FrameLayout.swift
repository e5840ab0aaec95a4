/// Where the frames of a batch lie in the run of units they are written to with one call: one behind the other. A frame
/// of up to a unit never crosses the border of one, and a longer one has its units to itself, so that each unit can be
/// given back as soon as its own frames are gone.
///
/// Pure.
struct FrameLayout: Sendable {
    /// What offsets in a unit are multiples of where frames share units.
    static let grain = 32

    /// Bytes of the run.
    let capacity: Int
    /// Whether frames may share units; if not, each begins one.
    let sharesUnits: Bool
    /// Where the next frame may begin at the earliest.
    private(set) var end = 0

    /// An empty run.
    init(capacity: Int, sharesUnits: Bool) {
        self.capacity = capacity
        self.sharesUnits = sharesUnits
    }

    /// Where a frame of `length` bytes would begin; `nil` when the run has no room for it.
    func offset(for length: Int) -> Int? {
        let unit = ExtentAllocator.unitSize
        let fits = end % unit + length <= unit
        let offset = fits ? end : ExtentAllocator.units(forByteCount: end) * unit
        return offset + length <= capacity ? offset : nil
    }

    /// Takes the place that `offset(for:)` gave.
    mutating func take(_ offset: Int, length: Int) {
        let isLong = length > ExtentAllocator.unitSize
        let step = sharesUnits && !isLong ? Self.grain : ExtentAllocator.unitSize
        end = (offset + length + step - 1) / step * step
    }
}
