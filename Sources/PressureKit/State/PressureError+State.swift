import PressureSystem

extension PressureError {
    static func stateMismatch(
        _ saved: StateManifest.Cache,
        _ type: String,
        _ layout: ElementLayout?,
        path: String
    ) -> PressureError {
        func words(_ type: String, _ layout: ElementLayout?) -> String {
            guard let layout else { return type }
            return
                "\(type) with elements of \(layout.size) bytes (stride \(layout.stride), alignment \(layout.alignment))"
        }
        return PressureError(
            code: .stateMismatch,
            message: """
                The saved state has \(words(saved.type, saved.layout)) here, and the cache holds \(words(type, layout)): \
                what was saved is not read. Give the app another version when the types of its values change.
                """,
            path: path
        )
    }
}
