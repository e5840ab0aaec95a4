import PressureKit
import ReportPages
import ScenarioLanguage

extension Step {
    /// The step in a few words, as the account and the progress line name it.
    var title: String {
        switch action {
        case .access(let spec): "access \(spec.title)"
        case .update(let spec): "update \(spec.title)"
        case .browse(let spec): "browse \(spec.title)"
        case .warning(let spec):
            (spec.level == .critical ? "critical warning" : "warning") + (spec.freeing.map { ", freeing \($0)" } ?? "")
        case .background: "background"
        case .foreground: "foreground"
        case .show(let glob): "show \(glob.value)"
        case .hide(let glob): "hide \(glob.value)"
        case .present(let path): "present \(path.value)"
        case .dismiss(let path): "dismiss \(path.value)"
        case .transition(let spec): "transition from \(spec.outgoing.value) to \(spec.incoming.value)"
        case .hog(let spec): "hog of \(spec.size)"
        case .disk(let spec): spec.title
        case .phase(let name): "phase: \(name)"
        case .fill(let spec): "fill until \(spec.level), at most \(spec.atMost)"
        case .release: "release"
        case .awaitLevel(let spec): "await \(spec.level)"
        case .calm(let duration): "calm for \(Quantities.duration(duration.seconds))"
        case .wait(let duration): "wait \(Quantities.duration(duration.seconds))"
        case .verify: "verify"
        case .relaunch: "relaunch"
        case .together(let steps): "together: " + steps.map(\.title).joined(separator: "; ")
        }
    }
}

extension AccessSpec {
    fileprivate var title: String { "\(of.value) \(pattern.title)" + (count.map { " × \($0)" } ?? "") }
}

extension PatternSpec {
    fileprivate var title: String {
        switch self {
        case .sequential: "in order"
        case .uniform: "uniformly"
        case .zipf(let alpha): "zipf \(alpha)"
        case .scan(let length): "in scans of \(length)"
        case .loop(let count): "in a loop over \(count)"
        case .hotSet(let set):
            "hot set of \(Quantities.percent(set.size))"
                + (set.shiftEvery.map { ", shifting every \($0)" } ?? "")
        case .trace(let file): "by trace \(file)"
        }
    }
}

extension DiskSpec {
    fileprivate var title: String {
        switch self {
        case .normal: "disk: normal"
        case .full: "disk: full"
        case .slow(let rate): "disk: \(Quantities.rate(rate))"
        case .failing(let share): "disk: \(Quantities.percent(share)) of writes fail"
        }
    }
}
