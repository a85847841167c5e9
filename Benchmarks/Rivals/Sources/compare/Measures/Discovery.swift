import Foundation

/// The time from publishing to being found, compared with avahi's own tools.
///
/// avahi-daemon waits for up to 250 ms before it probes for a name, for a random time that it keeps for ten seconds so that
/// packets can be shared (`avahi_elapse_time` in avahi-common/timeval.c). That is more than the contenders differ by: so
/// they publish in turns, to one daemon, and a round is the mean of several services.
struct Discovery: Measure {
    let programs: Programs
    let group = Group.scale

    /// The count of services of each contender in a round.
    private static let count = 20
    /// Between the starts of two publishers; one needs less than half of it.
    private static let spacing: Duration = .milliseconds(100)

    private static let measure = "publish to found"

    static func figure(_ discoverer: String) -> Figure { Figure(measure, discoverer, .found) }

    func stages(rounds: Int) -> [Stage] { [Stage(rounds: rounds, jobs: [job])] }

    private var job: Job {
        Job(name: Self.measure, seconds: 6.5) { book, round in
            let avahi = try PrivateAvahi(programs)
            let trials = try Discoverer.all(programs).map { try Trial($0, avahi) }
            defer { for trial in trials { trial.end() } }
            // The browsers are listening by now.
            usleep(500_000)
            for index in 0..<Self.count {
                for trial in trials {
                    try trial.publish(index)
                    usleep(UInt32(Self.spacing.seconds * 1_000_000))
                }
            }
            for trial in trials {
                book.add(try trial.meanTime(), Self.figure(trial.discoverer.name), round: round)
            }
        }
    }

    /// What one of the contenders publishes and finds in a round.
    private final class Trial {
        let discoverer: Discoverer
        private let avahi: PrivateAvahi
        private let browser: Child
        private var publishers: [(name: String, child: Child)] = []

        init(_ discoverer: Discoverer, _ avahi: PrivateAvahi) throws {
            self.discoverer = discoverer
            self.avahi = avahi
            browser = try Child(discoverer.browse(avahi, discoverer.service))
        }

        func publish(_ index: Int) throws {
            let name = "number-\(index)-"
            publishers.append((name, try Child(discoverer.publish(avahi, discoverer.service, name))))
        }

        /// In ms.
        func meanTime() throws -> Double {
            var times: [String: Double] = [:]
            while times.count < publishers.count {
                let found = try browser.line(startingWith: discoverer.foundPrefix, within: 10)
                // A service with several addresses has several lines.
                for (name, child) in publishers where times[name] == nil && found.text.contains(name) {
                    times[name] = (found.time - child.startTime).seconds * 1000
                }
            }
            return times.values.reduce(0, +) / Double(times.count)
        }

        func end() {
            browser.terminate()
            for publisher in publishers { publisher.child.terminate() }
        }
    }

    func tables(_ book: Book) -> [Table] {
        var table = Table(
            title: "From publish to found, with address and port",
            note:
                "ms from the publisher's process start to the waiting browser's line, the mean of \(Self.count) services in turns "
                + "on one avahi-daemon, with lowest–highest; most of it is the probing that mDNS prescribes",
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
