import Foundation

/// The results as JSON: every round of every figure, and the targets.
struct JSONOutput: Encodable {
    struct Row: Encodable {
        var measure: String
        var contender: String
        var quantity: String
        var unit: String
        var rounds: [Double]
        var median: Double
        var lowest: Double
        var highest: Double
        /// The ratio to the framework's figure of the same kind, within each round.
        var ratioToOurs: Double?
    }

    struct Reached: Encodable {
        var name: String
        var measured: Double?
        var must: String?
        var mustHolds: Bool
        var proud: String
        var proudReached: Bool
    }

    var machine: MachineDescription
    var figures: [Row]
    var checks: [Reached]
    var failures: [String]

    init(_ machine: MachineDescription, _ book: Book, _ checks: [Check]) {
        self.machine = machine
        figures = book.figures.compactMap { figure in
            guard let summary = book.summary(figure) else { return nil }
            let ratio = [Contender.handlersName, Contender.elementalName].compactMap { ours in
                book.ratio(figure, over: Figure(figure.measure, ours, figure.quantity))
            }.first
            return Row(
                measure: figure.measure, contender: figure.contender, quantity: figure.quantity.rawValue,
                unit: figure.quantity.unit, rounds: book.rounds(figure), median: summary.median,
                lowest: summary.lowest, highest: summary.highest, ratioToOurs: ratio)
        }
        self.checks = checks.map { check in
            Reached(
                name: check.name, measured: check.value(book), must: check.must.map(Format.bound),
                mustHolds: check.mustHolds(book), proud: Format.bound(check.proud),
                proudReached: check.proudHolds(book))
        }
        failures = book.failures
    }

    func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }
}
