import ArgumentParser
import Support

struct DoctorCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check this machine for common problems, and print what to do.",
        discussion: """
            Checks the system's message bus and avahi-daemon, publishes a service for a moment and finds it, tests each \
            network interface by multicast, and checks address families, firewalls, the host's name, the clock, the open-file limit, \
            serial devices and the state directory. Nothing is changed. The exit status is 1 if something does not work.

              $ elemental doctor
              $ elemental doctor --json | jq -r 'select(.state == "problem") | .advice'
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        let findings = Locked<[Finding]>([])
        try await Interruption.run(console, .task) { [state, output] in
            @Sendable func tell(_ new: [Finding]) async {
                findings.withLock { $0 += new }
                for finding in new { await console.emit(finding) }
            }
            let bus = await BusCheck.run()
            await tell([bus])
            await tell(
                await DiscoveryCheck.run(output, hasBus: bus.state == .ok) { await MulticastCheck.run() })
            await tell(
                await Blocking.finish {
                    AddressFamilyCheck.run() + FirewallCheck.run() + [ClockCheck.run(), DescriptorCheck.run()]
                        + SerialCheck.run()
                        + [StateCheck.run(state.state)]
                })
        }
        let states = findings.withLock { $0.map(\.state) }
        let (problems, warnings) = (states.count { $0 == .problem }, states.count { $0 == .warning })
        await console.emit(.examined(problems: problems, warnings: warnings))
        if problems > 0 {
            throw CommandFailure("unhealthy", "\(problems) of these \(problems == 1 ? "does" : "do") not work")
        }
    }
}

extension ConsoleEvent where Self == Notice {
    static func examined(problems: Int, warnings: Int) -> Notice {
        let lines =
            switch (problems, warnings) {
            case (0, 0): ["all checks passed"]
            case (0, _): ["nothing is broken; \(warnings) could be better"]
            // The command's failure follows and reports them.
            default: [String]()
            }
        return Notice("examined", [("problems", .integer(problems)), ("warnings", .integer(warnings))], lines)
    }
}
