package import Foundation
import Glibc

/// Standard input, which a command may read more than once: the tool starts itself again for some scenarios, and each of
/// these processes reads the scenario anew.
package enum StandardInput {
    /// All of it, from its beginning.
    ///
    /// - Throws: as ``BoundedInput``.
    package static func read(atMost limit: Int) throws(BoundedInput.Refusal) -> Data {
        var status = stat()
        // The structure outlives the call.
        if unsafe fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            lseek(STDIN_FILENO, 0, SEEK_SET)
            return try BoundedInput.read(.standardInput, atMost: limit)
        }
        let data = try BoundedInput.read(.standardInput, atMost: limit)
        keep(data)
        return data
    }

    /// Puts what was read into a file without a name, in the place of what it was read from.
    private static func keep(_ data: Data) {
        // Its bytes are written through the descriptor, and nothing else is done with the stream.
        guard let file = unsafe tmpfile() else { return }
        let descriptor = unsafe fileno(file)
        try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(contentsOf: data)
        dup2(descriptor, STDIN_FILENO)
        unsafe fclose(file)
        lseek(STDIN_FILENO, 0, SEEK_SET)
    }
}
