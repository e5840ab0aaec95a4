/// Where a board is: the calls that it makes on what processes share. None waits.
package protocol BoardStore: Sendable {
    /// The place of this process's slot.
    var place: Int { get }

    /// Reads the header and so many of the slots: the header first. `false` when that is not possible.
    func read(
        slots: Int,
        _ body: (_ header: borrowing BoardLayout.Words, _ slot: (Int) -> BoardLayout.Words) -> Void
    ) -> Bool

    /// Writes this process's slot.
    func write(_ slot: borrowing BoardLayout.Words)

    /// Writes the header.
    func write(header: borrowing BoardLayout.Words)

    /// Whether somebody has a slot.
    func isHeld(_ place: Int) -> Bool

    /// Has all others look.
    func notify()

    /// Gives the slot back: nothing is written to it any more. Once is enough.
    func leave()
}
