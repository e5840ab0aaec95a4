import Glibc
import PressureKit

/// Pages as the kernel gives and takes them: the limit of everything that frees memory.
enum BenchPages {
    /// The seconds that giving back mappings of these sizes takes, every page of them touched before.
    static func unmapSeconds(_ byteCounts: [Int]) -> Double {
        let mappings = unsafe byteCounts.map { unsafe map($0) }
        return BenchTiming.seconds {
            unsafe mappings.forEach { unsafe _ = munmap($0.baseAddress, $0.count) }
        }
    }

    /// Takes and gives back memory, so that the host of a virtual machine has provided it before anything is timed.
    static func warm(_ byteCount: Int) {
        let available = ProcessMemory.available?.bytes ?? byteCount
        _ = unmapSeconds([min(byteCount, available / 2)])
    }

    private static func map(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
        let address = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        // MAP_FAILED is the one address that is all ones.
        guard let address = unsafe address, Int(bitPattern: address) != -1 else {
            fatalError("no address space for \(ByteCount(bytes: byteCount))")
        }
        let bytes = unsafe UnsafeMutableRawBufferPointer(start: address, count: byteCount)
        for offset in stride(from: 0, to: byteCount, by: 4096) { unsafe bytes[offset] = 1 }
        return unsafe bytes
    }
}
