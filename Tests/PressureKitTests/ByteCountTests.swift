#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit
import Testing

@Suite struct ByteCountTests {
    @Test(arguments: [
        (0, "0 B"), (512, "512 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
        (1 << 20, "1.0 MiB"), (-3 << 20, "-3.0 MiB"), (5 << 30, "5.0 GiB"), (Int.max, "8.0 EiB"),
    ])
    func isDescribedInItsLargestUnit(bytes: Int, text: String) {
        #expect(ByteCount(bytes: bytes).description == text)
    }
}
#endif
