import PressureKit

/// The signals that the tool's commands look at: the ones that an app has by default.
enum ToolSources {
    /// Opens them.
    ///
    /// - Throws: `PressureError` where there are none.
    static func open() throws(PressureError) -> [any SignalSource] {
        try PressureSource.automatic.open()
    }
}
