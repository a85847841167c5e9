import Foundation
import Support
import TestSupport

/// The tables of the page on the command line that say what the events of `--json` have.
struct EventTable {
    struct Key: Hashable {
        let name: String
        /// `any`, `text`, `number`, `integer`, `boolean`, `array` or `object`.
        let type: String
        let isNullable: Bool
        /// Whether it may be left out.
        let isOptional: Bool

        func takes(_ value: JSONText) -> Bool {
            switch (value, type) {
            case (.null, _): isNullable || type == "any"
            case (_, "any"), (.string, "text"), (.bool, "boolean"), (.array, "array"), (.object, "object"),
                (.integer, "integer"), (.integer, "number"), (.number, "number"):
                true
            default: false
            }
        }
    }

    struct Row {
        let events: [String]
        let keys: [Key]

        func describes(_ name: String, _ members: JSONText.Members) -> Bool {
            let names = Set(members.map(\.key))
            return events.contains(name) && names.count == members.count
                && keys.allSatisfy { $0.isOptional || names.contains($0.name) }
                && members.allSatisfy { member in
                    keys.contains { $0.name == member.key && $0.takes(member.value) }
                }
        }
    }

    let rows: [Row]

    init() throws {
        let path = Repository.path("Sources/Core/Elemental/Elemental.docc/CommandLine.md")
        let page = try String(contentsOfFile: path, encoding: .utf8)
        func cells(under head: String) -> [[String]] {
            let table = page.components(separatedBy: "\n\(head)\n").last?.components(separatedBy: "\n\n").first ?? ""
            return table.split(separator: "\n").dropFirst().map { line in
                line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
        }
        var common: [String: Key] = [:]
        for cells in cells(under: "| key | type | meaning |") {
            let name = cells[0].filter { $0 != "`" }
            let type = cells[1].split(separator: " ")
            common[name] = Key(name: name, type: String(type[0]), isNullable: type.count > 1, isOptional: false)
        }
        rows = try cells(under: "| event | printed by | keys | meaning |").map { cells in
            let keys = try cells[2].components(separatedBy: ", ").filter { !$0.isEmpty }.map { text in
                guard let match = text.wholeMatch(of: /`(\w+)`( [a-z]+)?( or null)?(\?)?/) else {
                    throw TestSupportError("not a key and its type: \(text)")
                }
                let (name, isOptional) = (String(match.1), match.4 != nil)
                guard let type = match.2 else {
                    guard let key = common[name] else { throw TestSupportError("no type: \(text)") }
                    return Key(name: name, type: key.type, isNullable: key.isNullable, isOptional: isOptional)
                }
                if common[name] != nil { throw TestSupportError("a common key has one type: \(text)") }
                return Key(
                    name: name, type: String(type.dropFirst()), isNullable: match.3 != nil, isOptional: isOptional)
            }
            return Row(events: cells[0].components(separatedBy: ", ").map { $0.filter { $0 != "`" } }, keys: keys)
        }
    }
}
