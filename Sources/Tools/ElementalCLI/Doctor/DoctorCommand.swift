import ArgumentParser
import Support

struct DoctorCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look at what usually goes wrong on this machine, and say what to do.",
        discussion: """
            Looks at the system's message bus and avahi-daemon, publishes a service for a moment and finds it, asks each \
            network interface by multicast, and looks at the address families, firewalls, the host's name, the clock, the limit of open files, \
            serial devices and the state directory. Nothing is changed. The exit status is 1 if something does not work.

              $ elemental doctor
              $ elemental doctor --json | jq -r 'select(.state == "problem") | .advice'
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        let counts = Locked((problems: 0, warnings: 0))
        try await Interruption.run(console, .task) { [state, output] in
            @Sendable func tell(_ findings: [Finding]) async {
                for finding in findings {
                    counts.withLock { counts in
                        if finding.state == .problem { counts.problems += 1 }
                        if finding.state == .warning { counts.warnings += 1 }
                    }
                    await console.emit(finding)
                }
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
        let (problems, warnings) = counts.withLock { $0 }
        await console.emit(.examined(problems: problems, warnings: warnings))
        if problems > 0 {
            throw CommandFailure("unhealthy", "\(problems) of these \(problems == 1 ? "does" : "do") not work")
        }
    }
}
