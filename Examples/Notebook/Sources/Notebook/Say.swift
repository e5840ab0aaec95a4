import Glibc

/// Prints a line that is seen at once, also in a pipe.
func say(_ text: Any, terminator: String = "\n") {
    print(text, terminator: terminator)
    fflush(nil)
}
