import PressureKit

/// The memory that a scenario is played in: this machine's, or one that is made up.
protocol Machine: Sendable {
    /// The process's memory that is in RAM, and the most that ever was; `nil` where that is not measured.
    var resident: ByteCount? { get }
    var residentPeak: ByteCount? { get }

    /// What can be had, of so much in all; of the machine, and of the container's limit if there is one.
    var available: ByteCount? { get }
    var total: ByteCount? { get }
    var containerAvailable: ByteCount? { get }

    /// Memory for a ``MemoryFill``, held as long as what is returned.
    func take(_ byteCount: Int) -> any TakenMemory
}

/// Memory that somebody holds.
protocol TakenMemory: Sendable {}

extension PageBuffer: TakenMemory {}

/// This machine.
struct RealMachine: Machine {
    var resident: ByteCount? { ProcessMemory.resident }
    var residentPeak: ByteCount? { ProcessMemory.peak }
    var available: ByteCount? { ProcessMemory.available }
    var total: ByteCount? { ProcessMemory.total }
    var containerAvailable: ByteCount? { ProcessMemory.containerAvailable }

    func take(_ byteCount: Int) -> any TakenMemory {
        var buffer = PageBuffer(byteCount: byteCount)
        // A byte in each page makes the kernel provide it.
        buffer.write { bytes in
            for offset in stride(from: 0, to: bytes.byteCount, by: 4096) {
                bytes.storeBytes(of: UInt8(truncatingIfNeeded: offset >> 12 | 1), toByteOffset: offset, as: UInt8.self)
            }
        }
        return buffer
    }
}
