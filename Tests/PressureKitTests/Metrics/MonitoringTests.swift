#if Metrics
import CoreMetrics
import Foundation
import MetricsTestKit
import PressureKit
import Testing

/// The examples for Prometheus and Grafana mention what exists, and nothing else.
@Suite struct MonitoringTests {
    private var exported: Set<String> {
        let factory = TestMetrics()
        _ = PressureMetrics(factory: factory)
        return Monitoring.names(of: factory).exported
    }

    /// A metric in a text that is not the name of a rule.
    private func metrics(_ text: String) -> Set<String> {
        Monitoring.mentioned(in: text.replacing(/\b[a-z]+:pressurekit_[a-z_]+(:[a-z0-9_]+)+/, with: ""))
    }

    @Test(arguments: ["dashboard.json", "rules.yaml"]) func onlyMetricsThatExistAreMentioned(file: String) throws {
        let mentioned = metrics(try Monitoring.text(file))
        #expect(mentioned.count > 5)
        #expect(mentioned.subtracting(exported) == [])
    }

    @Test func theDashboardUsesOnlyRulesThatAreThere() throws {
        let rules = try Monitoring.text("rules.yaml")
        let recorded = Set(rules.matches(of: /record: (\S+)/).map { String($0.output.1) })
        #expect(!recorded.isEmpty)
        #expect(Monitoring.rules(in: try Monitoring.text("dashboard.json")).subtracting(recorded) == [])
        #expect(Monitoring.rules(in: rules) == recorded)
    }

    @Test func theDashboardIsOneThatGrafanaReads() throws {
        let text = try Monitoring.text("dashboard.json")
        let dashboard = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
        for panel in panels {
            let title = try #require(panel["title"] as? String)
            let targets = try #require(panel["targets"] as? [[String: Any]], "\(title)")
            #expect(!targets.isEmpty, "\(title)")
            for target in targets {
                let expression = try #require(target["expr"] as? String, "\(title)")
                #expect(expression.contains("pressurekit_"), "\(title)")
                #expect(expression.count { $0 == "(" } == expression.count { $0 == ")" }, "\(title)")
                #expect(expression.contains("$job"), "\(title): \(expression)")
            }
            #expect((panel["gridPos"] as? [String: Int])?.count == 4, "\(title)")
            #expect(panel["description"] is String, "\(title)")
        }
    }

    /// Every metric is explained where an operator looks.
    @Test func theReadmeNamesEveryMetric() throws {
        let factory = TestMetrics()
        _ = PressureMetrics(factory: factory)
        let readme = try Monitoring.text("README.md")
        for name in Monitoring.names(of: factory).all { #expect(readme.contains("`\(name)"), "\(name)") }
        #expect(metrics(readme).subtracting(exported.union(Monitoring.names(of: factory).all)) == [])
    }
}
#endif
