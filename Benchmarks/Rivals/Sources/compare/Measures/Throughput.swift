/// The maximum throughput from one sender to one receiver.
struct Throughput: Measure {
    let programs: Programs
    /// The counted time of one run.
    let seconds: Double
    let group = Group.throughput

    private static let longSize = 65536

    static let sizes: [(transport: Transport, bytes: [Int])] = [
        (.tcp, [8, 64, 1024, longSize]),
        (.udp, [8, 64, 1024]),
        (.tls, [longSize]),
    ]

    /// Throughput takes little time and varies much, most for long values: it has more rounds than the rest.
    private static func moreRounds(_ size: Int) -> Int { size < longSize ? 6 : 8 }

    /// Those of long values whose ratio is checked have further rounds of their own: waking a receiver that sleeps between
    /// two values can cost a sender as much as the value, and whether it sleeps differs from run to run.
    private static let pairs: [Transport: [Contender]] = [
        .tcp: [.elemental, .rawLarge], .tls: [.onLoop, .nioThroughput],
    ]
    private static let pairedRounds = 24

    static func measure(_ transport: Transport, _ size: Int) -> String { "throughput \(transport.title) \(size) bytes" }

    static let allocationMeasure = "throughput TCP 8 bytes allocations"

    func stages(rounds: Int) -> [Stage] {
        let floods = Self.sizes.flatMap { transport, sizes in
            sizes.flatMap { size in
                let all = Stage(
                    rounds: rounds + Self.moreRounds(size),
                    jobs: contenders(transport).map { flood(transport, size, $0) })
                let pair = size == Self.longSize ? Self.pairs[transport] : nil
                return [all]
                    + (pair.map { [all.more(Self.pairedRounds, of: $0.map { flood(transport, size, $0) })] } ?? [])
            }
        }
        return floods + [Stage(rounds: 1, jobs: contenders(.tcp).map(allocations))]
    }

    private func contenders(_ transport: Transport) -> [Contender] {
        Contender.ofThroughput.filter { $0.transports.contains(transport) }
    }

    private func flood(_ transport: Transport, _ size: Int, _ contender: Contender) -> Job {
        let measure = Self.measure(transport, size)
        return Job(name: "\(measure): \(contender.name)", seconds: seconds + 0.7) { book, round in
            let encounter = Encounter(
                programs: programs, contender: contender, transport: transport, placement: .apart)
            let report = try encounter.throughput(size: size, seconds: seconds).report
            let messages = try report.number("messages")
            let sent = try report.number("sent")
            guard messages > 0 else { throw CompareError("not one message arrived") }
            let values: [(Quantity, Double)] = [
                (.messagesPerSecond, try report.number("messagesPerSecond")),
                (.bytesPerSecond, try report.number("bytesPerSecond")),
                (.lost, sent > 0 ? try report.number("lost") / sent : 0),
                (.senderTimePerMessage, try report.number("senderProcessorTime") / messages * 1e9),
                (.receiverTimePerMessage, try report.number("receiverProcessorTime") / messages * 1e9),
            ]
            for (quantity, value) in values {
                book.add(value, Figure(measure, contender.name, quantity), round: round)
            }
        }
    }

    /// The receiver's allocations per message, as the difference of two runs of different length.
    private func allocations(_ contender: Contender) -> Job {
        Job(name: "\(Self.allocationMeasure): \(contender.name)", seconds: 2.6) { book, round in
            let encounter = Encounter(
                programs: programs, contender: contender, transport: .tcp, countsAllocations: true)
            let short = try encounter.throughput(size: 8, seconds: 0.2)
            let long = try encounter.throughput(size: 8, seconds: 1)
            let messages = try long.report.number("messages") - short.report.number("messages")
            guard messages > 0, let first = short.serverAllocations, let second = long.serverAllocations else {
                throw CompareError("the longer run moved fewer messages")
            }
            book.add(
                max(0, (second - first) / messages),
                Figure(Self.allocationMeasure, contender.name, .serverAllocations), round: round)
        }
    }

    func tables(_ book: Book) -> [Table] {
        Self.sizes.map { transport, sizes in
            let hasAllocations = transport == .tcp
            var table = Table(
                title: "Throughput, \(transport.title), one sender to one receiver, each end on a core of its own",
                note: "messages received a second with lowest–highest of the rounds; × ours: how often as many; "
                    + "processor time a message"
                    + (hasAllocations ? "; allocations a message at the receiver" : "")
                    + (transport == .udp ? "; 65,536 bytes do not fit a datagram" : ""),
                header: ["", "bytes", "messages/s", "", "× ours", "MB/s", "lost", "sender", "receiver"]
                    + (hasAllocations ? ["alloc."] : []))
            for size in sizes {
                if size != sizes.first { table.rows.append([]) }
                table.rows += contenders(transport).map { row(book, transport, size, $0) }
            }
            return table
        }
    }

    private func row(_ book: Book, _ transport: Transport, _ size: Int, _ contender: Contender) -> [String] {
        let measure = Self.measure(transport, size)
        func figure(_ quantity: Quantity) -> Figure { Figure(measure, contender.name, quantity) }
        let rate = book.summary(figure(.messagesPerSecond))
        let ours = Figure(measure, Contender.elementalName, .messagesPerSecond)
        let allocations = Figure(Self.allocationMeasure, contender.name, .serverAllocations)
        return [
            contender.name, "\(size)", Format.count(rate?.median), Format.countSpread(rate),
            Format.ratio(book.ratio(figure(.messagesPerSecond), over: ours)),
            Format.number(book.median(figure(.bytesPerSecond)).map { $0 / 1e6 }),
            Format.share(book.median(figure(.lost))),
            Format.nanoseconds(book.median(figure(.senderTimePerMessage))),
            Format.nanoseconds(book.median(figure(.receiverTimePerMessage))),
        ] + (transport == .tcp ? [size == 8 ? Format.small(book.median(allocations)) : ""] : [])
    }

    func panels(_ book: Book) -> [Panel] {
        Self.sizes.flatMap { transport, sizes in
            sizes.map { size in
                Panel(
                    title: "Throughput, \(transport.title), \(size) bytes: messages a second (more is better)",
                    bars: contenders(transport).map { contender in
                        let figure = Figure(Self.measure(transport, size), contender.name, .messagesPerSecond)
                        return Panel.Group(
                            label: contender.name, isOurs: contender.isOurs, values: [book.median(figure)])
                    },
                    text: Format.count)
            }
        }
    }
}
