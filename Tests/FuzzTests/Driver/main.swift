// The fuzzer: `FUZZ_TARGET=kernel fuzz [libFuzzer's options] CORPUS…`. Built by scripts/fuzz.sh, with a sanitizer; libFuzzer's own
// main is not used, so that one program has all targets.
import Glibc

/// libFuzzer as a library: https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library
@_silgen_name("LLVMFuzzerRunDriver")
func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// What libFuzzer's main would call. It is linked, though ours is the one that runs.
@_cdecl("LLVMFuzzerTestOneInput")
func check(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer's bytes, valid for the call; a copy of them on the heap, whose ends AddressSanitizer watches.
    let input = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    do throws(FuzzFailure) {
        try unsafe target.check(input)
    } catch {
        fatalError("\(error)")
    }
    return 0
}

/// A C function has no context. Set before the first call, on the one thread there is.
nonisolated(unsafe) var target = FuzzTarget.scenario

// By the environment and not by the command line: libFuzzer starts itself again with arguments of its own to merge.
// The string is the environment's, which nobody changes here, and is copied.
let wanted = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) }
guard let chosen = FuzzTarget.all.first(where: { $0.name == wanted }) else {
    print("usage: FUZZ_TARGET=\(FuzzTarget.all.map(\.name).joined(separator: "|")) fuzz [OPTION…] [CORPUS…]")
    exit(2)
}
unsafe target = chosen
var count = CommandLine.argc
var arguments = unsafe CommandLine.unsafeArgv
exit(unsafe runFuzzer(&count, &arguments, check))
