import Foundation

/// The cost of idle connections, and the time until a new one is ready.
struct Connections: Measure {
    let programs: Programs
    let group = Group.scale

    static let counts = [1, 1000, 5000]
    private static let idleSeconds = 10.0

    static func figure(_ count: Int, _ quantity: Quantity) -> Figure {
        Figure("\(count) idle connections", Contender.elementalName, quantity)
    }

    func stages(rounds: Int) -> [Stage] {
        [Stage(rounds: 1, jobs: Self.counts.map(job))]
    }

    private func job(_ count: Int) -> Job {
        Job(name: "\(count) idle connections", seconds: Self.idleSeconds + 1.5 + Double(count) / 2000) { book, round in
            // It allows more devices than the default.
            let service = try Child(try Contender.elemental.server(programs, .sink, .tcp))
            defer { service.end() }
            let port = Int(try service.report(having: "port", within: 10).number("port"))
            usleep(300_000)
            let before = try ProcessUsage(of: service.pid)
            let peer = try Child(Command(programs.peer("idle-peer"), ["\(port)", "\(count)"]))
            defer { peer.end() }
            let ready = try peer.report(having: "p50", within: 60)
            // The service has all connections, but may still be busy with them.
            usleep(500_000)
            let start = try ProcessUsage(of: service.pid)
            Thread.sleep(forTimeInterval: Self.idleSeconds)
            let end = try ProcessUsage(of: service.pid)
            peer.end()
            if let complaint = peer.complaint() { throw CompareError(complaint) }
            let values: [(Quantity, Double)] = [
                (.memoryPerConnection, (end.residentByteCount - before.residentByteCount) / Double(count)),
                (.residentMemory, end.residentByteCount),
                (.processorTimePerMinute, (end.processorTime - start.processorTime) * 60 / Self.idleSeconds),
                (.p50, try ready.number("p50")),
                (.p99, try ready.number("p99")),
            ]
            for (quantity, value) in values { book.add(value, Self.figure(count, quantity), round: round) }
        }
    }

    func tables(_ book: Book) -> [Table] {
        var table = Table(
            title: "Idle connections to one service",
            note: "resident memory of the service's process without the kernel's part; ready: from connect(2) to "
                + "having the service's hello",
            header: ["connections", "KiB each", "process MiB", "processor time", "ready p50", "p99"])
        for count in Self.counts {
            func median(_ quantity: Quantity) -> Double? { book.median(Self.figure(count, quantity)) }
            table.rows.append([
                "\(count)", Format.number(median(.memoryPerConnection).map { $0 / 1024 }),
                Format.number(median(.residentMemory).map { $0 / 1_048_576 }),
                Format.with(" s/min", Format.small(median(.processorTimePerMinute))),
                Format.with(" µs", Format.number(median(.p50))), Format.with(" µs", Format.number(median(.p99))),
            ])
        }
        return [table]
    }
}
