import CLinuxShims
import Glibc
package import PressureSystem

/// Page-aligned scratch memory, taken from the system once and given back when the owner goes. Touched at once, so that
/// nothing has to be found for it while memory is short; or, if that is wanted, only addresses until it is used.
///
/// Page alignment matters to speed: a 1 MiB `pread` into a buffer 16 bytes past a page boundary takes almost five
/// times as long as into an aligned one.
@safe package struct ReservedPages: ~Copyable {
    /// The memory. Valid for as long as its owner.
    package let bytes: UnsafeMutableRawBufferPointer

    /// Reserves `byteCount` bytes, at least one, rounded up to whole pages of zeros.
    ///
    /// - Throws: ``PressureError`` with code `spillFailed` when the system has no memory to give.
    package init(byteCount: Int, isTouched: Bool = true) throws(PressureError) {
        let rounded = (max(byteCount, 1) + 4095) & ~4095
        guard let base = unsafe pk_map_pages(rounded) else { throw .scratchUnavailable(byteCount: rounded) }
        // The mapping is `rounded` bytes long and ours alone.
        unsafe bytes = UnsafeMutableRawBufferPointer(start: base, count: rounded)
        if isTouched { _ = unsafe memset(base, 0, rounded) }
    }

    /// Gives the memory back and keeps the addresses: zeros from now on.
    func giveBack() { _ = unsafe pk_drop_pages(bytes.baseAddress, bytes.count) }

    deinit {
        // Mapped in `init` with this length; nobody keeps a pointer past the owner.
        _ = unsafe pk_unmap_pages(bytes.baseAddress, bytes.count)
    }
}
