import Dispatch
import Foundation
import PressureKit

/// What a process writes to a pipe, heard on a thread of its own.
///
/// Not on a queue of Dispatch: its threads are as many as there are processors, and while they block it adds one a second.
final class Hearing<Result: Sendable>: Sendable {
    private let heard = DispatchGroup()
    private let box = Lock<Result?>(nil)

    /// Has `body` read from a pipe until nobody can write to it any more.
    ///
    /// - Throws: ``PressureError`` with code `threadUnavailable`.
    init(_ pipe: Pipe, _ body: @escaping @Sendable (FileHandle) -> Result) throws(PressureError) {
        heard.enter()
        do throws(PressureError) {
            try WorkerThread.spawn("hearing") { [self] in
                let result = body(pipe.fileHandleForReading)
                box.withLock { $0 = result }
                heard.leave()
            }
        } catch {
            heard.leave()
            throw error
        }
    }

    /// What came of it; `nil` while it goes on.
    var result: Result? { box.withLock { $0 } }

    /// Blocks until all has been heard.
    func wait() { heard.wait() }
}

extension Hearing<String> {
    /// Hears all as one text.
    convenience init(textOf pipe: Pipe) throws(PressureError) {
        try self.init(pipe) { String(decoding: (try? $0.readToEnd()) ?? Data(), as: UTF8.self) }
    }

    /// Blocks until all has been heard.
    var text: String {
        wait()
        return result ?? ""
    }
}
