/// Round trips at a rate, by three shapes of a program that sends in its own time and sleeps in between.
struct PacedShapes: Measure {
    let programs: Programs
    let group = Group.paced

    /// Round trips a second, and how many are made.
    static let rates = [(perSecond: 100, count: 400), (perSecond: 1000, count: 2000)]
    private static let contenders = [Contender.handlers, .nio, .raw]
    /// Rounds more: where each thread wakes up varies from run to run.
    private static let moreRounds = 13

    private static func measure(_ rate: Int, _ pace: Pace) -> String {
        "round trip TCP free, \(rate) a second by a \(pace.rawValue)"
    }

    static func figure(_ rate: Int, _ pace: Pace, _ contender: Contender, _ quantity: Quantity) -> Figure {
        Figure(measure(rate, pace), contender.name, quantity)
    }

    func stages(rounds: Int) -> [Stage] {
        Self.rates.flatMap { rate, count in
            Pace.allCases.map { pace in
                Stage(rounds: rounds + Self.moreRounds, jobs: Self.contenders.map { job(rate, count, pace, $0) })
            }
        }
    }

    private func job(_ rate: Int, _ count: Int, _ pace: Pace, _ contender: Contender) -> Job {
        let name = "\(Self.measure(rate, pace)): \(contender.name)"
        return Job(name: name, seconds: Double(count) / Double(rate) + 1) { book, round in
            let encounter = Encounter(programs: programs, contender: contender, transport: .tcp)
            let report = try encounter.roundTrips(count, rate: rate, pace: pace)
            try book.add(report, of: count, round: round) { Self.figure(rate, pace, contender, $0) }
        }
    }

    func tables(_ book: Book) -> [Table] {
        Self.rates.map { rate, _ in
            var table = Table(
                title: "Round trip at \(rate) a second, TCP, 8 bytes, free, by what sends and sleeps in between",
                note: "µs from just before the send to the answer's handler; p50 and p99 with lowest–highest of the "
                    + "rounds; × ours: how often as long",
                header: ["", "sent by a", "p50", "", "× ours", "p90", "p99", "", "p99.9", "max", "lost"])
            for pace in Pace.allCases {
                for contender in Self.contenders {
                    func figure(_ quantity: Quantity) -> Figure { Self.figure(rate, pace, contender, quantity) }
                    func median(_ quantity: Quantity) -> String { Format.number(book.median(figure(quantity))) }
                    table.rows.append([
                        contender.name, pace.rawValue, median(.p50), Format.spread(book.summary(figure(.p50))),
                        Format.ratio(book.ratio(figure(.p50), over: Self.figure(rate, pace, .handlers, .p50))),
                        median(.p90), median(.p99), Format.spread(book.summary(figure(.p99))),
                        median(.p999), median(.max), Format.share(book.median(figure(.lost))),
                    ])
                }
            }
            return table
        }
    }
}
