/// Round trips of one element under load.
struct UnderLoad: Measure {
    let programs: Programs
    let group = Group.load

    private static let count = 3000

    /// Round trips per second. Each is timed from when it was due: consecutive round trips would pause while the load is
    /// worst.
    private static let rate = 1000

    /// The load during the round trips.
    enum Beside: String, CaseIterable {
        case nothing, large, motion

        var title: String {
            switch self {
            case .nothing: "nothing else"
            case .large: "1 MiB values on the same connection"
            case .motion: "100 other devices with 120 Hz motion"
            }
        }
    }

    static func figure(_ beside: Beside, _ quantity: Quantity) -> Figure {
        Figure("round trip beside \(beside.rawValue)", Contender.handlersName, quantity)
    }

    func stages(rounds: Int) -> [Stage] {
        [Stage(rounds: rounds + Self.moreRoundsOfTails, jobs: Beside.allCases.map(job))]
    }

    private func job(_ beside: Beside) -> Job {
        Job(name: "round trip TCP beside: \(beside.title)", seconds: 4) { book, round in
            var arguments = ["--transport", "tcp", "--via", "handlers", "--size", "8"]
            arguments += ["--count", "\(Self.count)", "--rate", "\(Self.rate)"]
            if beside != .nothing { arguments += ["--beside", beside.rawValue] }
            let report = try Encounter.bench(programs, "latency", arguments, field: "p50", patience: 60)
            try book.add(report, of: Self.count, round: round) { Self.figure(beside, $0) }
        }
    }

    func tables(_ book: Book) -> [Table] {
        var table = Table(
            title: "Round trip under load, TCP, 8 bytes, \(Self.rate) a second, elemental with handlers, free",
            note: "µs from when each was due; p99 with lowest–highest; × idle: p99 over that with nothing else",
            header: ["beside", "p50", "p90", "p99", "", "× idle", "p99.9", "max", "lost"])
        for beside in Beside.allCases {
            func median(_ quantity: Quantity) -> String { Format.number(book.median(Self.figure(beside, quantity))) }
            table.rows.append([
                beside.title, median(.p50), median(.p90), median(.p99),
                Format.spread(book.summary(Self.figure(beside, .p99))),
                Format.ratio(book.ratio(Self.figure(beside, .p99), over: Self.figure(.nothing, .p99))),
                median(.p999), median(.max), Format.share(book.median(Self.figure(beside, .lost))),
            ])
        }
        return [table]
    }

    func panels(_ book: Book) -> [Panel] {
        [
            Panel(
                title: "Round trip under load, TCP, free: p50 and p99, µs (less is better)",
                bars: Beside.allCases.map { beside in
                    Panel.Group(
                        label: beside.title, isOurs: true,
                        values: [.p50, .p99].map { book.median(Self.figure(beside, $0)) })
                },
                text: Format.number)
        ]
    }
}
