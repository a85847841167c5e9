/// Round trips of a paired device while another host floods its service with TLS handshakes.
struct Handshakes: Measure {
    let programs: Programs
    let group = Group.handshakes

    private static let count = 600
    /// Round trips per second: a device's motion values.
    private static let rate = 120
    private static let contender = Contender.elemental

    /// What another host does during the round trips.
    enum Beside: CaseIterable {
        case nothing, hellos

        /// Connections a second.
        static let rate = 2000

        var title: String { self == .nothing ? "nothing else" : "\(Self.rate) ClientHellos a second" }
    }

    static func figure(_ beside: Beside, _ quantity: Quantity) -> Figure {
        Figure("round trip over TLS, \(beside.title)", contender.name, quantity)
    }

    func stages(rounds: Int) -> [Stage] { [Stage(rounds: rounds, jobs: Beside.allCases.map(job))] }

    private func job(_ beside: Beside) -> Job {
        Job(name: "round trip TLS beside: \(beside.title)", seconds: 6.5) { book, round in
            let encounter = Encounter(
                programs: programs, contender: Self.contender, transport: .tls, placement: .together)
            let report = try encounter.roundTrips(Self.count, rate: Self.rate) { port in
                guard beside == .hellos else { return nil }
                // On the other core, as another host is.
                return try Contender.hellos(programs, port: port, rate: Beside.rate)
                    .on(core: Placement.apart.server)
            }
            try book.add(report, of: Self.count, round: round) { Self.figure(beside, $0) }
        }
    }

    func tables(_ book: Book) -> [Table] {
        var table = Table(
            title:
                "Round trip of a paired device, TLS 1.3, 8 bytes, \(Self.rate) a second, both ends on one core, beside "
                + "ClientHellos from another address",
            note: "µs from when each was due; p99 with lowest–highest; × quiet: p99 over that with nothing else",
            header: ["beside", "p50", "p90", "p99", "", "× quiet", "max", "lost"])
        for beside in Beside.allCases {
            func median(_ quantity: Quantity) -> String { Format.number(book.median(Self.figure(beside, quantity))) }
            table.rows.append([
                beside.title, median(.p50), median(.p90), median(.p99),
                Format.spread(book.summary(Self.figure(beside, .p99))),
                Format.ratio(book.ratio(Self.figure(beside, .p99), over: Self.figure(.nothing, .p99))),
                median(.max), Format.share(book.median(Self.figure(beside, .lost))),
            ])
        }
        return [table]
    }
}
