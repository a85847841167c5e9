import Foundation

/// The time from publishing to being found, compared with avahi's own tools.
struct Discovery: Measure {
    let programs: Programs
    let group = Group.scale

    private static let measure = "publish to found"

    static func figure(_ discoverer: String) -> Figure { Figure(measure, discoverer, .found) }

    func stages(rounds: Int) -> [Stage] { [Stage(rounds: rounds, jobs: Discoverer.all(programs).map(job))] }

    private func job(_ discoverer: Discoverer) -> Job {
        Job(name: "\(Self.measure): \(discoverer.name)", seconds: 3.2) { book, round in
            let avahi = try PrivateAvahi(programs)
            let browser = try Child(discoverer.browse(avahi, "found"))
            defer { browser.terminate() }
            // It is listening by now.
            usleep(500_000)
            let publisher = try Child(discoverer.publish(avahi, "found"))
            defer { publisher.terminate() }
            let found = try browser.line(startingWith: discoverer.foundPrefix, within: 10)
            book.add(
                (found.time - publisher.startTime).seconds * 1000, Self.figure(discoverer.name), round: round)
        }
    }

    func tables(_ book: Book) -> [Table] {
        var table = Table(
            title: "From publish to found, with address and port",
            note: "ms from the publisher's process start to the waiting browser's line, with lowest–highest; "
                + "most of it is the probing that mDNS prescribes",
            header: ["", "ms", "", "× ours"])
        for discoverer in Discoverer.all(programs) {
            let figure = Self.figure(discoverer.name)
            table.rows.append([
                discoverer.name, Format.number(book.median(figure)), Format.spread(book.summary(figure)),
                Format.ratio(book.ratio(figure, over: Self.figure(Contender.elementalName))),
            ])
        }
        return [table]
    }
}
