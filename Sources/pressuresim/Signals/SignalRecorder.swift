import Foundation
import PressureKit

/// Writes down what a monitor observes, a line at a time, so that a recording that is cut off is still one.
final class SignalRecorder: Sendable {
    private struct State {
        var writer: SignalRecording.Writer
        var failure: String?
        var isReaderGone = false
        var samples = 0
    }

    private let file: FileHandle
    private let state: Lock<State>

    /// Writes to a file from now on.
    ///
    /// - Throws: what the file system says.
    init(_ file: FileHandle, start: MonotonicInstant) throws {
        self.file = file
        let writer = SignalRecording.Writer(start: start)
        state = Lock(State(writer: writer))
        try FileDescriptorOutput.write(Data("\(writer.header)\n".utf8), to: file.fileDescriptor)
    }

    /// How many samples were written.
    var samples: Int { state.withLock { $0.samples } }

    /// Why nothing is written any more, if so.
    var failure: String? { state.withLock { $0.failure } }

    /// Whether that is because nobody reads it any more, as in `pressuresim record - | head`.
    var isReaderGone: Bool { state.withLock(\.isReaderGone) }

    /// Writes one observation. Called on the monitor's thread.
    ///
    /// - Returns: whether it could be written.
    @discardableResult func note(_ observation: PressureMonitor.Observation) -> Bool {
        state.withLock { state in
            guard state.failure == nil else { return false }
            let text = state.writer.lines(for: observation).map { $0 + "\n" }.joined()
            do {
                try FileDescriptorOutput.write(Data(text.utf8), to: file.fileDescriptor)
            } catch {
                state.failure = "\(error)."
                state.isReaderGone = error.isReaderGone
                return false
            }
            if case .sample = observation { state.samples += 1 }
            return true
        }
    }
}
