/// One service sends to many connected devices.
struct FanOut: Measure {
    let programs: Programs
    /// The counted time of one run.
    let seconds: Double
    let group = Group.fanout

    static let deviceCounts = [1, 10, 100, 250]

    static func measure(_ devices: Int) -> String { "fan-out to \(devices)" }

    static func figure(_ devices: Int, _ quantity: Quantity = .deliveriesPerSecond) -> Figure {
        Figure(measure(devices), Contender.elementalName, quantity)
    }

    func stages(rounds: Int) -> [Stage] { [Stage(rounds: rounds, jobs: Self.deviceCounts.map(job))] }

    private func job(_ devices: Int) -> Job {
        Job(name: "\(Self.measure(devices)) devices", seconds: seconds + 1.2) { book, round in
            let report = try Encounter.bench(
                programs, "fanout", ["--devices", "\(devices)", "--seconds", "\(seconds)", "--size", "8"],
                field: "deliveries", patience: 30 + seconds)
            let deliveries = try report.number("deliveries")
            let lost = try report.number("lost")
            book.add(try report.number("deliveriesPerSecond"), Self.figure(devices), round: round)
            book.add(lost / max(1, lost + deliveries), Self.figure(devices, .lost), round: round)
        }
    }

    func tables(_ book: Book) -> [Table] {
        var table = Table(
            title: "Fan-out, TCP, 8 bytes, one service to many devices in one other process, free",
            note: "deliveries received a second with lowest–highest of the rounds; over one: as a part of those "
                + "to 1 device",
            header: ["devices", "deliveries/s", "", "over one", "lost"])
        for devices in Self.deviceCounts {
            let summary = book.summary(Self.figure(devices))
            table.rows.append([
                "\(devices)", Format.count(summary?.median), Format.countSpread(summary),
                Format.ratio(book.ratio(Self.figure(devices), over: Self.figure(1))),
                Format.share(book.median(Self.figure(devices, .lost))),
            ])
        }
        return [table]
    }

    func panels(_ book: Book) -> [Panel] {
        [
            Panel(
                title: "Fan-out, TCP, 8 bytes: deliveries a second (more is better)",
                bars: Self.deviceCounts.map { devices in
                    Panel.Group(
                        label: "to \(devices)", isOurs: true, values: [book.median(Self.figure(devices))])
                },
                text: Format.count)
        ]
    }
}
