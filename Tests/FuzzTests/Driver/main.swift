// The fuzzer: `fuzz TARGET [libFuzzer's options] CORPUS…`. Built by scripts/fuzz.sh, with a sanitizer; libFuzzer's own
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

guard CommandLine.argc > 1, let chosen = FuzzTarget.all.first(where: { $0.name == CommandLine.arguments[1] }) else {
    print("usage: fuzz \(FuzzTarget.all.map(\.name).joined(separator: "|")) [OPTION…] [CORPUS…]")
    exit(2)
}
unsafe target = chosen
// The name of the target goes; the program's stays. Both arrays are the C runtime's, and end with nil.
var count = CommandLine.argc - 1
var arguments = unsafe CommandLine.unsafeArgv + 1
unsafe arguments[0] = CommandLine.unsafeArgv[0]
exit(unsafe runFuzzer(&count, &arguments, check))
