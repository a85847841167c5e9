/// One service sends to many connected devices.
struct FanOut: Measure {
    let programs: Programs
    /// The counted time of one run.
    let seconds: Double
    let group = Group.fanout

    static let deviceCounts = [1, 10, 100, 250]

    private static func measure(_ devices: Int, _ placement: Placement) -> String {
        "fan-out to \(devices)" + (placement == .free ? ", free" : "")
    }

    /// By default with each process on a core of its own, as the throughput that it is compared with.
    static func figure(
        _ devices: Int, _ quantity: Quantity = .deliveriesPerSecond, _ placement: Placement = .apart
    ) -> Figure {
        Figure(measure(devices, placement), Contender.elementalName, quantity)
    }

    func stages(rounds: Int) -> [Stage] {
        let jobs = Self.deviceCounts.flatMap { [job($0, .apart), job($0, .free)] }
        return [Stage(rounds: rounds + 2, jobs: jobs)]
    }

    private func job(_ devices: Int, _ placement: Placement) -> Job {
        Job(name: "\(Self.measure(devices, placement)) devices", seconds: seconds + 1.2) { book, round in
            let report = try Encounter.bench(
                programs, "fanout", ["--devices", "\(devices)", "--seconds", "\(seconds)", "--size", "8"],
                placement: placement, field: "deliveries", patience: 30 + seconds)
            let deliveries = try report.number("deliveries")
            let lost = try report.number("lost")
            book.add(
                try report.number("deliveriesPerSecond"), Self.figure(devices, .deliveriesPerSecond, placement),
                round: round)
            book.add(
                lost / max(1, lost + deliveries), Self.figure(devices, .lost, placement), round: round)
        }
    }

    func tables(_ book: Book) -> [Table] {
        var table = Table(
            title: "Fan-out, TCP, 8 bytes, one service to many devices in one other process, each on a core of its own",
            note: "deliveries received a second with lowest–highest of the rounds; over one: as a part of those "
                + "to 1 device; free: where the kernel chooses the cores",
            header: ["devices", "deliveries/s", "", "over one", "free", "", "lost"])
        for devices in Self.deviceCounts {
            let summary = book.summary(Self.figure(devices))
            let free = book.summary(Self.figure(devices, .deliveriesPerSecond, .free))
            table.rows.append([
                "\(devices)", Format.count(summary?.median), Format.countSpread(summary),
                Format.ratio(book.ratio(Self.figure(devices), over: Self.figure(1))),
                Format.count(free?.median), Format.countSpread(free),
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
