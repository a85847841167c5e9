import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalCLI

/// The table of events on the page on the command line says what the program prints, and all of it.
struct EventTableTests {
    @Test
    func everyEventIsInTheTableAsItIsPrinted() async throws {
        let rows = try EventTable().rows
        var printed: Set<String> = []
        for json in try await EventExamples.all().flatMap(\.jsonLines) + EventExamples.exported() {
            guard case .event(let name, let members) = json else {
                Issue.record("not an event: \(json.text)")
                continue
            }
            let places = rows.indices.filter { rows[$0].describes(name, members) }
            #expect(!places.isEmpty, "no row describes \(json.text)")
            for place in places { printed.insert("\(name), row \(place)") }
        }
        for (place, row) in rows.enumerated() {
            for event in row.events {
                #expect(
                    printed.contains("\(event), row \(place)"),
                    "nothing is printed as \(event): \(row.keys.map(\.name))")
            }
        }
    }

    /// A new event comes with an example, and so with a row.
    @Test
    func everyEventHasAnExample() async throws {
        let code = try String(contentsOfFile: "\(#filePath.dropLast(16))Examples.swift", encoding: .utf8)
        let examples = Set(try await EventExamples.all().map { "\(type(of: $0))" })
        let folder = Repository.path("Sources/Tools/ElementalCLI")
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        var types: Set<String> = []
        var notices: Set<String> = []
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            for match in text.matches(of: /(?:struct|enum|class|extension) (\w+)[^{\n]*:[^{\n]*\bConsoleEvent\b/) {
                types.insert(String(match.1))
            }
            for match in text.matches(of: /static (?:func|var) (\w+)[^{]*?(?:->|:) Notice\b/) {
                notices.insert(String(match.1))
            }
        }
        #expect(types.count + notices.count > 60)
        #expect(types.subtracting(examples).isEmpty, "\(types.subtracting(examples))")
        for notice in notices { #expect(code.contains("Notice.\(notice)"), "no example of \(notice)") }
    }
}
