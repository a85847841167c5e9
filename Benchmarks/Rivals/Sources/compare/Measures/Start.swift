import Foundation

/// The start-up time of the command line, and the memory of an idle service.
struct Start: Measure {
    let programs: Programs
    let group = Group.start

    private static let measure = "start"
    /// Browsers in a round, of which the median counts: a start takes little time and varies much.
    private static let startCount = 9

    static func figure(_ discoverer: String, _ quantity: Quantity = .firstLine) -> Figure {
        Figure(measure, discoverer, quantity)
    }

    func stages(rounds: Int) -> [Stage] { [Stage(rounds: rounds, jobs: Discoverer.all(programs).map(job))] }

    private func job(_ discoverer: Discoverer) -> Job {
        Job(name: "\(Self.measure): \(discoverer.name)", seconds: 5) { book, round in
            let avahi = try PrivateAvahi(programs)
            let publisher = try Child(discoverer.publish(avahi, discoverer.service, "started"))
            defer { publisher.terminate() }
            // The first browser waits until the service is published; the second one finds it at once.
            let waiting = try Child(discoverer.browse(avahi, discoverer.service))
            _ = try waiting.line(startingWith: discoverer.foundPrefix, within: 10)
            waiting.terminate()
            usleep(1_000_000)
            let times = try (0..<Self.startCount).map { _ in
                let browser = try Child(discoverer.browse(avahi, discoverer.service))
                defer { browser.terminate() }
                let line = try browser.line(startingWith: discoverer.foundPrefix, within: 10)
                return (line.time - browser.startTime).seconds * 1000
            }
            if let summary = Summary(times) { book.add(summary.median, Self.figure(discoverer.name), round: round) }
            book.add(
                try ProcessUsage(of: publisher.pid).residentByteCount,
                Self.figure(discoverer.name, .residentMemory), round: round)
        }
    }

    func tables(_ book: Book) -> [Table] {
        var table = Table(
            title: "Start",
            note:
                "from the browser's process start to its first found service, the median of \(Self.startCount) starts a "
                + "round, with lowest–highest of the rounds; resident memory of an idle publisher",
            header: ["", "first line, ms", "", "× ours", "publisher, MiB"])
        for discoverer in Discoverer.all(programs) {
            func figure(_ quantity: Quantity) -> Figure { Self.figure(discoverer.name, quantity) }
            table.rows.append([
                discoverer.name, Format.number(book.median(figure(.firstLine))),
                Format.spread(book.summary(figure(.firstLine))),
                Format.ratio(
                    book.ratio(figure(.firstLine), over: Self.figure(Contender.elementalName))),
                Format.number(book.median(figure(.residentMemory)).map { $0 / 1_048_576 }),
            ])
        }
        return [table]
    }
}
