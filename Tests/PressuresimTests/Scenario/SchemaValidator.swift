import Foundation

@testable import pressuresim

/// Holds values against a JSON Schema: the keywords that ours uses, and no others, so that a new one is not passed over.
struct SchemaValidator {
    let root: [String: Any]

    init(_ text: String) throws {
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
        root = object as? [String: Any] ?? [:]
    }

    /// Why a value does not fit, one line for each reason.
    func complaints(_ value: Any) -> [String] { check(value, root, "") }

    private func check(_ value: Any, _ schema: [String: Any], _ place: String) -> [String] {
        schema.keys.sorted().flatMap { keyword -> [String] in
            let rule = schema[keyword] as Any
            switch keyword {
            case "$schema", "title", "description", "$defs": return []
            case "$ref": return check(value, definition(rule as? String ?? ""), place)
            case "oneOf":
                let fits = (rule as? [[String: Any]] ?? []).count { check(value, $0, place).isEmpty }
                return fits == 1 ? [] : ["\(place) fits \(fits) of the choices"]
            case "type":
                let types = rule as? [String] ?? [rule as? String ?? ""]
                return types.contains { Self.isOf($0, value) } ? [] : ["\(place) is no \(types)"]
            case "const": return isEqual(value, rule) ? [] : ["\(place) is not \(rule)"]
            case "minimum", "maximum", "minLength", "maxLength", "pattern": return check(value, keyword, rule, place)
            case "items", "minItems", "maxItems": return check(value as? [Any], keyword, rule, place)
            case "properties", "required", "additionalProperties", "minProperties", "maxProperties":
                return check(value as? [String: Any], keyword, rule, schema, place)
            default: return ["\(place): \(keyword) is not known to this validator"]
            }
        }
    }

    private func check(_ value: Any, _ keyword: String, _ rule: Any, _ place: String) -> [String] {
        let text = value as? String
        let number =
            Self.isOf("number", value) ? (value as? NSNumber)?.doubleValue ?? (value as? Int).map(Double.init) : nil
        let limit = (rule as? NSNumber)?.doubleValue ?? 0
        let holds: Bool
        switch keyword {
        case "minimum": holds = number.map { $0 >= limit } ?? true
        case "maximum": holds = number.map { $0 <= limit } ?? true
        case "minLength": holds = text.map { Double($0.count) >= limit } ?? true
        case "maxLength": holds = text.map { Double($0.count) <= limit } ?? true
        default: holds = text.map { $0.range(of: rule as? String ?? "", options: .regularExpression) != nil } ?? true
        }
        return holds ? [] : ["\(place): \(keyword) \(rule) does not hold for \(value)"]
    }

    private func check(_ list: [Any]?, _ keyword: String, _ rule: Any, _ place: String) -> [String] {
        guard let list else { return [] }
        let limit = rule as? Int ?? 0
        switch keyword {
        case "items":
            return list.enumerated().flatMap { check($1, rule as? [String: Any] ?? [:], "\(place)/\($0)") }
        case "minItems": return list.count >= limit ? [] : ["\(place) has too few"]
        default: return list.count <= limit ? [] : ["\(place) has too many"]
        }
    }

    private func check(
        _ object: [String: Any]?,
        _ keyword: String,
        _ rule: Any,
        _ schema: [String: Any],
        _ place: String
    ) -> [String] {
        guard let object else { return [] }
        let known = schema["properties"] as? [String: [String: Any]] ?? [:]
        switch keyword {
        case "properties":
            return object.flatMap { key, value in known[key].map { check(value, $0, "\(place)/\(key)") } ?? [] }
        case "required": return (rule as? [String] ?? []).filter { object[$0] == nil }.map { "\(place) has no \($0)" }
        case "additionalProperties": return object.keys.filter { known[$0] == nil }.map { "\(place)/\($0) is unknown" }
        case "minProperties": return object.count >= rule as? Int ?? 0 ? [] : ["\(place) has too few keys"]
        default: return object.count <= rule as? Int ?? 0 ? [] : ["\(place) has too many keys"]
        }
    }

    private func definition(_ reference: String) -> [String: Any] {
        let name = reference.replacingOccurrences(of: "#/$defs/", with: "")
        return (root["$defs"] as? [String: [String: Any]])?[name] ?? ["unknown reference \(reference)": 0]
    }

    private func isEqual(_ value: Any, _ constant: Any) -> Bool {
        if let text = constant as? String { return value as? String == text }
        return value as? Bool == constant as? Bool
    }

    private static func isOf(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "boolean": value is Bool
        case "integer": value is Int && !(value is Bool)
        case "number": (value is Int || value is Double) && !(value is Bool)
        default: false
        }
    }
}
