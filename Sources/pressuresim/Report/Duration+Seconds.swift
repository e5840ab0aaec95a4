extension Duration {
    /// As a number, for reports.
    var seconds: Double { self / .seconds(1) }
}
