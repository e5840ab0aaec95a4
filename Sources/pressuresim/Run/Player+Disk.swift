import ScenarioLanguage

extension Player {
    /// Has the disk behave otherwise from now on.
    func setDisk(_ spec: DiskSpec) -> String {
        var condition = stage.disk.usual
        switch spec {
        case .normal: break
        case .full: condition.isFull = true
        case .slow(let rate): condition = condition.slowed(to: rate)
        case .failing(let share): condition.failingWrites = share
        }
        stage.disk.condition = condition
        return ""
    }
}
