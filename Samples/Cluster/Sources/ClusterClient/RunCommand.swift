import ArgumentParser
import ClusterElements
import ClusterMembers
import Elemental
import Foundation
import SampleSecurity

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs jobs and tells what became of each.",
        discussion: """
            Each job runs once, or is told as lost. The exit status is 1 if one failed or found no place.

              ClusterClient run --primes 2000000 --count 20
              ClusterClient run --command shout --input 'this is job %' --count 20
            """)

    @Option(help: "Counts the primes below this number.")
    var primes: Int?

    @Option(help: "Runs the command that the nodes allow under this name.")
    var command: String?

    @Option(help: "The command's standard input; % becomes the job's number.")
    var input = ""

    @Option(help: "How many jobs, 1 to 100000.")
    var count = 1

    @Option(help: "How many jobs are under way at once, 1 to 1000.")
    var parallel = 16

    @OptionGroup var security: ConnectingOptions

    func validate() throws {
        guard (primes == nil) != (command == nil) else { throw ValidationError("say either --primes or --command") }
        guard 1...100_000 ~= count else { throw ValidationError("--count is from 1 to 100000") }
        guard 1...1000 ~= parallel else { throw ValidationError("--parallel is from 1 to 1000") }
    }

    func run() async throws {
        let placer = Placer(Members(as: "ClusterClient run", options: try security.connectOptions))
        try await untilInterrupted {
            async let _ = placer.run()
            var totals: [String: Int] = [:]
            await withTaskGroup(of: String.self) { group in
                let series = UUID().uuidString
                for number in 1...count where !Task.isCancelled {
                    if number > parallel, let end = await group.next() { totals[end, default: 0] += 1 }
                    group.addTask { await perform(number, "\(series) \(number)", placer) }
                }
                for await end in group { totals[end, default: 0] += 1 }
            }
            print(["done", "failed", "lost", "not placed"].map { "\($0): \(totals[$0] ?? 0)" }.joined(separator: ", "))
            if totals["failed"] != nil || totals["not placed"] != nil { throw ExitCode.failure }
        }
    }

    /// Runs one job, tells of it, and returns the word for how it ended.
    private func perform(_ number: Int, _ id: String, _ placer: Placer) async -> String {
        let work: Job.Work =
            command.map { .command(name: $0, input: input.replacing("%", with: String(number))) }
            ?? .primes(below: primes ?? 0)
        var last: (node: String, quarter: Int)?
        let outcome = await placer.run(id, work) { node, part in
            let quarter = Int(max(0, min(part, 1)) * 4)
            guard last?.node != node || last?.quarter != quarter else { return }
            last = (node, quarter)
            say(number, node, "running", "\(quarter * 25) %")
        }
        let node = last?.node ?? "no node"
        return switch outcome {
        case .done(let text): say(number, node, "done", text)
        case .failed(let reason): say(number, node, "failed", reason)
        case .lost(let node): say(number, node, "lost", "the node went away; whether it ran is not known")
        case .notPlaced(let reason): say(number, node, "not placed", reason)
        }
    }

    @discardableResult
    private func say(_ number: Int, _ node: String, _ word: String, _ text: String) -> String {
        let text = text.prefix(200).trimmingCharacters(in: .whitespacesAndNewlines)
        print("job \(number) on \(node): \(word): \(text)".printable)
        fflush(nil)
        return word
    }
}
