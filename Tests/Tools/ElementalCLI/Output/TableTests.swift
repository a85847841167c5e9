import Foundation
import TestSupport
import Testing

struct TableTests {
    @Test("columns are aligned if names have escapes, wide characters and combining marks")
    func columns() async throws {
        let names = ["a\u{1B}[2Jb", "日本", "e\u{301}", "x", "\u{1F600}"]
        let elements = names.enumerated().map { "\($0.offset + 1):\($0.element):int8=\($0.offset)" }
        try await Robot.with(elements) { _, target in
            let rows = try await ElementalProcess.run("describe", target).output.dropFirst()
            let columns = rows.map { row in
                // Terminal columns before the type: two for each ideograph and emoji, none for the mark.
                let beginning = row.prefix { $0 != "i" && $0 != "T" }
                return beginning.reduce(0) { sum, character in
                    sum + ("日本\u{1F600}".contains(character) ? 2 : 1)
                }
            }
            #expect(rows.count == 6 && Set(columns).count == 1, "\(columns)\n\(rows.joined(separator: "\n"))")
        }
    }

    @Test("a long value is cut to fit its column")
    func longValues() async throws {
        try await Robot.with(["1:Text:string=" + String(repeating: "\u{1}", count: 100)]) { _, target in
            let described = try await ElementalProcess.run("describe", target)
            let row = described.output.last ?? ""
            #expect(row.hasSuffix("...") && row.count < 80, "\(row)")
        }
    }

    @Test("a name without a letter in common is not suggested")
    func hints() async throws {
        try await Robot.with(["1:a:int8=1", "2:b:int8=1"]) { _, target in
            for arguments in [["set", target, "=1"], ["get", target, ""], ["get", target, "x"]] {
                let result = try await expectFailure(ElementalProcess.run(arguments), status: 3)
                let text = result.errors.joined()
                #expect(text.contains("there are: 'a' and 'b'") && !text.contains("did you mean"), "\(text)")
            }
        }
    }
}
