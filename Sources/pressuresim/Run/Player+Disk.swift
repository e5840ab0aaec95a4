extension Player {
    /// Has the disk behave otherwise from now on.
    func setDisk(_ spec: DiskSpec) -> String { "" }
}
