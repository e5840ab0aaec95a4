import ReportPages

/// Which version of the tool this is: the package's.
enum ToolVersion {
    /// As Semantic Versioning has it. A test holds it against that of the C interface and of the Python package.
    static let current = "0.1.0"

    /// What wrote a page.
    static let generator = "pressuresim \(current)"

    /// What stands below every page.
    static let footer = Html("p") {
        "Written by \(generator), PressureKit's tool. The page is one file and asks nobody for anything; with "
        Html("code", .class("option")) { "--json" }
        " the same facts are there for programs."
    }
}
