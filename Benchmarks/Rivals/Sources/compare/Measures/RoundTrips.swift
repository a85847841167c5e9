/// Round trips of an 8-byte payload, strictly one after another.
struct RoundTrips: Measure {
    let programs: Programs
    let group = Group.roundtrip

    private static let count = 10_000
    private static let allocationCounts = (2000, 6000)
    /// Rounds more for all, and further ones for pairs whose ratio is wanted to some hundredths, the framework with SwiftNIO
    /// and those that do not sleep: a virtual core may be slower by a third for some seconds, and the waking of another one
    /// varies.
    private static let (moreRounds, pairedRounds) = (2, 16)

    private struct Setting {
        var transport: Transport
        var isPinned: Bool

        var measure: String { RoundTrips.measure(transport, isPinned: isPinned) }
    }

    private let settings = Transport.allCases.flatMap { transport in
        [true, false].map { Setting(transport: transport, isPinned: $0) }
    }

    static func measure(_ transport: Transport, isPinned: Bool) -> String {
        "round trip \(transport.title) \(isPinned ? "pinned" : "free")"
    }

    static func allocationMeasure(_ transport: Transport) -> String { "round trip \(transport.title) allocations" }

    func stages(rounds: Int) -> [Stage] {
        let rounds = rounds + Self.moreRounds
        let trips = settings.flatMap { setting in
            let contenders = contenders(setting.transport)
            let all = Stage(rounds: rounds, jobs: contenders.map { trip(setting, $0) })
            let pairs = [[Contender.handlers, .nio]] + (setting.isPinned ? [] : [[.lowest, .rawSpinning]])
            return [all]
                + pairs.map { pair in
                    let jobs = pair.filter { $0.transports.contains(setting.transport) }.map { trip(setting, $0) }
                    return all.more(Self.pairedRounds, of: jobs)
                }
        }
        let allocations = Transport.allCases.flatMap { transport in
            contenders(transport).map { counting(transport, $0) }
        }
        return trips + [Stage(rounds: 1, jobs: allocations)]
    }

    private func contenders(_ transport: Transport) -> [Contender] {
        Contender.ofRoundTrips.filter { $0.transports.contains(transport) }
    }

    private func trip(_ setting: Setting, _ contender: Contender) -> Job {
        Job(name: "\(setting.measure): \(contender.name)", seconds: setting.isPinned ? 0.9 : 1.4) { book, round in
            let encounter = Encounter(
                programs: programs, contender: contender, transport: setting.transport,
                placement: setting.isPinned ? .together : .free)
            let report = try encounter.roundTrips(Self.count).report
            try book.add(report, of: Self.count, round: round) { Figure(setting.measure, contender.name, $0) }
        }
    }

    /// The difference of two runs of different length, which excludes start-up and shutdown.
    private func counting(_ transport: Transport, _ contender: Contender) -> Job {
        let measure = Self.allocationMeasure(transport)
        return Job(name: "\(measure): \(contender.name)", seconds: 1.8) { book, round in
            let encounter = Encounter(
                programs: programs, contender: contender, transport: transport, countsAllocations: true)
            let short = try encounter.roundTrips(Self.allocationCounts.0)
            let long = try encounter.roundTrips(Self.allocationCounts.1)
            let trips = Double(Self.allocationCounts.1 - Self.allocationCounts.0)
            for (quantity, path) in [
                (Quantity.clientAllocations, \Encounter.Outcome.clientAllocations),
                (.serverAllocations, \.serverAllocations),
            ] {
                guard let first = short[keyPath: path], let second = long[keyPath: path] else { continue }
                book.add(max(0, (second - first) / trips), Figure(measure, contender.name, quantity), round: round)
            }
        }
    }

    func tables(_ book: Book) -> [Table] {
        settings.map { setting in
            var table = Table(
                title: "Round trip, \(setting.transport.title), 8 bytes, "
                    + (setting.isPinned ? "both ends on one core" : "free"),
                note: "µs; p50 with lowest–highest of the rounds; × ours: how often as long; allocations a round trip, "
                    + "client + server",
                header: ["", "p50", "", "× ours", "p90", "p99", "p99.9", "max", "lost", "allocations"])
            let ours = Figure(setting.measure, Contender.handlersName, .p50)
            for contender in contenders(setting.transport) {
                func figure(_ quantity: Quantity) -> Figure { Figure(setting.measure, contender.name, quantity) }
                let allocationMeasure = Self.allocationMeasure(setting.transport)
                let allocations = [Quantity.clientAllocations, .serverAllocations].map {
                    Format.small(book.median(Figure(allocationMeasure, contender.name, $0)))
                }
                table.rows.append(
                    [
                        contender.name, Format.number(book.median(figure(.p50))),
                        Format.spread(book.summary(figure(.p50))),
                        Format.ratio(book.ratio(figure(.p50), over: ours)),
                    ]
                        + Quantity.percentiles.dropFirst().map { Format.number(book.median(figure($0))) }
                        + [Format.share(book.median(figure(.lost))), allocations.joined(separator: " + ")])
            }
            return table
        }
    }

    func panels(_ book: Book) -> [Panel] {
        settings.map { setting in
            let quantities: [Quantity] = [.p50, .p99]
            return Panel(
                title: "Round trip, \(setting.transport.title), "
                    + (setting.isPinned ? "both ends on one core" : "free") + ": p50 and p99, µs (less is better)",
                bars: contenders(setting.transport).map { contender in
                    Panel.Group(
                        label: contender.name, isOurs: contender.isOurs,
                        values: quantities.map { book.median(Figure(setting.measure, contender.name, $0)) })
                },
                text: Format.number)
        }
    }
}
