/// Round trips at a fixed rate, with event loops that sleep between them and with such that do not: the framework's, and
/// raw C's, which tell what a machine allows.
struct Paced: Measure {
    let programs: Programs
    let group = Group.roundtrip

    /// Round trips a second, and how many are made.
    static let rates = [(perSecond: 100, count: 300), (perSecond: 1000, count: 3000)]
    private static let contenders = [Contender.handlers, .lowest, .raw, .rawSpinning]
    /// Further rounds at 1,000 a second of those whose ratio is wanted: among the slowest hundredth are those that something
    /// else of the machine has held up, of which one run of three seconds has some and the next one has none.
    private static let pairedRounds = 16

    private static func measure(_ rate: Int) -> String { "round trip TCP free, \(rate) a second" }

    static func figure(_ rate: Int, _ contender: Contender, _ quantity: Quantity) -> Figure {
        Figure(measure(rate), contender.name, quantity)
    }

    func stages(rounds: Int) -> [Stage] {
        let rounds = rounds + Self.moreRoundsOfTails
        return Self.rates.flatMap { rate, count in
            let all = Stage(rounds: rounds, jobs: Self.contenders.map { job(rate, count, $0) })
            let pair = [Contender.handlers, .lowest].map { job(rate, count, $0) }
            return [all] + (rate == 1000 ? [all.more(Self.pairedRounds, of: pair)] : [])
        }
    }

    private func job(_ rate: Int, _ count: Int, _ contender: Contender) -> Job {
        Job(name: "\(Self.measure(rate)): \(contender.name)", seconds: 4) { book, round in
            let encounter = Encounter(programs: programs, contender: contender, transport: .tcp)
            let report = try encounter.roundTrips(count, rate: rate)
            try book.add(report, of: count, round: round) { Self.figure(rate, contender, $0) }
        }
    }

    func tables(_ book: Book) -> [Table] {
        var table = Table(
            title: "Round trip at a rate, TCP, 8 bytes, free",
            note: "µs from when each was due; p99 with lowest–highest of the rounds; × standard: p99 over that with "
                + "loops that sleep",
            header: ["", "a second", "p50", "p90", "p99", "", "× standard", "p99.9", "max", "lost"])
        for (rate, _) in Self.rates {
            for contender in Self.contenders {
                func figure(_ quantity: Quantity) -> Figure { Self.figure(rate, contender, quantity) }
                func median(_ quantity: Quantity) -> String { Format.number(book.median(figure(quantity))) }
                table.rows.append([
                    contender.name, "\(rate)", median(.p50), median(.p90), median(.p99),
                    Format.spread(book.summary(figure(.p99))),
                    Format.ratio(book.ratio(figure(.p99), over: Self.figure(rate, .handlers, .p99))),
                    median(.p999), median(.max), Format.share(book.median(figure(.lost))),
                ])
            }
        }
        return [table]
    }
}
