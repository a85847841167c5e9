/// A ratio with a required target and an ambitious one.
struct Check {
    enum Bound {
        case atMost(Double)
        case atLeast(Double)

        func holds(_ value: Double) -> Bool {
            switch self {
            case .atMost(let bound): value <= bound
            case .atLeast(let bound): value >= bound
            }
        }
    }

    var name: String
    /// The part of the comparison that it belongs to.
    var group: Group
    /// `nil` if the ratio is only reported.
    var must: Bound?
    var proud: Bound
    var unit = ""
    var value: (Book) -> Double?

    /// A required target without a figure fails.
    func mustHolds(_ book: Book) -> Bool {
        guard let value = value(book) else { return false }
        return must?.holds(value) ?? true
    }

    func proudHolds(_ book: Book) -> Bool { value(book).map(proud.holds) ?? false }
}

extension Check {
    /// - Parameter withTargets: whether to show the targets too.
    static func table(_ checks: [Check], _ book: Book, withTargets: Bool) -> Table {
        var table = Table(
            title: "Ratios", note: "within each round, their median",
            header: ["", "measured"] + (withTargets ? ["must", "", "proud", ""] : []))
        for check in checks {
            let measured = [check.name, Format.with(check.unit, Format.ratio(check.value(book)))]
            guard withTargets else {
                table.rows.append(measured)
                continue
            }
            table.rows.append(
                measured + [
                    check.must.map(Format.bound) ?? "told", check.mustHolds(book) ? "holds" : "FAILS",
                    Format.bound(check.proud), check.proudHolds(book) ? "reached" : "not yet",
                ])
        }
        return table
    }
}
