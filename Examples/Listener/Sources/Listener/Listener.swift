import PressureSignals

/// Prints why, whenever memory runs short or is plentiful again. Until ^C.
@main struct Listener {
    static func main() async throws {
        for await cause in try PressureMonitor.changes() {
            print(cause)
        }
    }
}
