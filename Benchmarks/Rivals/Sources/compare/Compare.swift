import Foundation

/// The comparison: measures all contenders in turn and prints how the framework compares.
@main
struct Compare {
    static func main() {
        do {
            let options = try CompareOptions(Array(CommandLine.arguments.dropFirst()))
            LiveChildren.shared.endOnSignal()
            let holds = try Compare(options).run()
            TemporaryFolder.remove()
            exit(holds ? 0 : 1)
        } catch {
            Progress.write("compare: \(error)")
            exit(64)
        }
    }

    private let options: CompareOptions
    private let measures: [any Measure]

    private init(_ options: CompareOptions) throws {
        self.options = options
        let programs = try options.programs()
        let all: [any Measure] = [
            RoundTrips(programs: programs),
            Paced(programs: programs),
            PacedShapes(programs: programs),
            Throughput(programs: programs, seconds: options.seconds),
            FanOut(programs: programs, seconds: options.seconds),
            UnderLoad(programs: programs),
            Handshakes(programs: programs),
            Connections(programs: programs),
            Discovery(programs: programs),
            Start(programs: programs),
        ]
        measures = all.filter { options.groups.contains($0.group) }
    }

    /// - Returns: whether everything was measured; with `--check`, whether every required target is met.
    private func run() throws -> Bool {
        let machine = MachineDescription()
        print(machine.text)
        print(options.rounds == 1 ? "1 round" : "\(options.rounds) rounds, of which the tables show the median")
        var book = Book()
        measure(&book)
        for table in measures.flatMap({ $0.tables(book) }) { print("\n" + table.text) }
        let checks = Check.all.filter { options.groups.contains($0.group) }
        if !checks.isEmpty { print("\n" + Check.table(checks, book, withTargets: options.checks).text) }
        if !book.failures.isEmpty {
            print("\nNot measured")
            for failure in book.failures { print("  \(failure)") }
        }
        if let file = options.json {
            try JSONOutput(machine, book, checks).data().write(to: URL(fileURLWithPath: file))
        }
        if let file = options.svg {
            let picture = Picture(
                title: "Elemental and its rivals, \(machine.processor), \(machine.cores) cores",
                panels: measures.flatMap { $0.panels(book) })
            try Data(picture.svg.utf8).write(to: URL(fileURLWithPath: file))
        }
        return options.checks ? checks.allSatisfy { $0.mustHolds(book) } : book.failures.isEmpty
    }

    private func measure(_ book: inout Book) {
        let stages = measures.flatMap { $0.stages(rounds: options.rounds) }
        var progress = Progress(stages)
        for stage in stages {
            for round in stage.first..<(stage.first + stage.rounds) {
                for job in round.isMultiple(of: 2) ? stage.jobs.reversed() : stage.jobs {
                    progress.begin(job, round: round, of: stage.first + stage.rounds - 1)
                    do {
                        try job.run(&book, round)
                    } catch {
                        Progress.write("  not measured: \(error)")
                        book.add(failure: "\(job.name): \(error)")
                    }
                }
            }
        }
    }
}
