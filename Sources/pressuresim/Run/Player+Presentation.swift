import PressureKit
import ReportPages
import ScenarioLanguage

/// The steps that put one controller in another's place.
extension Player {
    /// Covers the controller that lists `path` with it.
    func present(_ path: String) -> String {
        guard let sheet = world.sheets[path] else { return "" }
        do throws(PressureError) {
            try sheet.presenter.present(sheet.controller)
        } catch {
            log.change { $0.tally.fail(path, error) }
            return error.words
        }
        return sheet.presenter.identifier + " covered"
    }

    /// Takes it away again.
    func dismiss(_ path: String) -> String {
        guard let sheet = world.sheets[path] else { return "" }
        sheet.controller.dismiss()
        return sheet.presenter.identifier + " uncovered"
    }

    /// Shows one child in place of another, once its values are back.
    func transition(_ spec: TransitionSpec) -> String {
        let named = [spec.outgoing.value, spec.incoming.value].compactMap { path in
            world.controllers.first { $0.path == path }
        }
        guard named.count == 2, let parent = named[0].parent else { return "" }
        let report = Blocking.wait { () -> Result<RestoreReport, PressureError> in
            do throws(PressureError) {
                return .success(try await parent.transition(from: named[0], to: named[1]))
            } catch {
                return .failure(error)
            }
        }
        switch report {
        case .success(let report): return note(report)
        case .failure(let error):
            log.change { $0.tally.fail(spec.incoming.value, error) }
            return error.words
        }
    }

    /// Counts what was restored ahead of need.
    func note(_ report: RestoreReport) -> String {
        log.change { record in
            record.restoredAhead += report.restored.count
            record.restoredAheadBytes += report.bytes.bytes
            record.restoreFailures += report.failures.map(\.lineForTool)
        }
        return "\(Quantities.count(report.restored.count, "value")) restored ahead (\(report.bytes))"
    }

    /// What follows belongs to a part of this name.
    func enter(phase name: String) -> String {
        log.change { $0.phase = name }
        return ""
    }
}

extension World {
    /// A controller that is in the tree while it is presented.
    struct Sheet: Sendable {
        let controller: PressureController
        let presenter: PressureController
    }
}
