import ArgumentParser
import ClusterElements
import ClusterMembers
import Elemental
import Foundation
import Logging
import MachineReadings
import SampleSecurity
import ServiceLifecycle

@main
struct ClusterNode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ClusterNode",
        abstract: "A node of a cluster: finds the others, tells how it is, and takes jobs.",
        discussion: """
            A job counts primes or runs one of the commands that --allow names; a client's text goes to its standard input, \
            never into the command line.

              ClusterNode --allow shout='/usr/bin/tr a-z A-Z'
            """)

    @Option(help: "The node's name; the lowest one coordinates. (default: the host's)")
    var name = ProcessInfo.processInfo.hostName

    @Option(help: ArgumentHelp("A command that jobs may run, with its arguments.", valueName: "name=/path args"))
    var allow: [String] = []

    @Option(help: "How many jobs it runs at once, 1 to 100. (default: one for each processor)")
    var slots = ProcessInfo.processInfo.activeProcessorCount

    @OptionGroup var security: ServingOptions

    func validate() throws {
        guard 1...100 ~= slots else { throw ValidationError("--slots is from 1 to 100") }
        guard Commands(allow) != nil else {
            throw ValidationError("--allow is of the form name=/path/of/program arguments")
        }
    }

    func run() async throws {
        guard let commands = Commands(allow) else { return }
        var configuration = ServiceConfiguration(limits: Members.limits)
        let pairing = try security.apply(to: &configuration)
        let service = ElementalService(
            Cluster.service, displayName: name, elements: Cluster.all, configuration: configuration)
        let coordinator = Coordinator(Members(as: name, options: try security.connectOptions))
        let epoch = UUID().uuidString
        let jobs = Jobs(commands: commands, slots: slots, epoch: epoch) { busy in
            _ = try? service.send(UInt8(clamping: busy), to: Cluster.busy)
        }
        service.onValue(of: Cluster.job) { job, device in jobs.start(job, for: device) }
        service.onValue(of: Cluster.inquiry) { job, device in jobs.inquire(job, for: device) }
        service.onValue(of: Cluster.question) { job, device in
            guard coordinator.isHere else { return }
            try? device.send(Report(job: job, state: .goes(to: coordinator.place())), to: Cluster.report)
        }
        service.onEvent { event in
            switch event {
            case .listening(let port): say("listening on port \(port)")
            case .published(let name):
                say("published as '\(name)'")
                coordinator.isCalled(name)
            case .failedToPublish(let error, let delay): say("not published: \(error); retrying in \(delay)")
            default: break
            }
        }
        try service.send(epoch, to: Cluster.epoch)
        try service.send(UInt8(clamping: slots), to: Cluster.slots)
        try service.send(0, to: Cluster.busy)
        try service.send(commands.allowed.keys.sorted().joined(separator: " "), to: Cluster.commands)
        pairing.prepare(service, say: say)
        var logger = Logger(label: "ClusterNode", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = .error
        try await ServiceGroup(
            services: [service, Node(service: service, coordinator: coordinator)],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
        ).run()
    }
}

/// What a node does beside serving: knows the others, and tells how it is.
private struct Node: Service {
    let service: ElementalService
    let coordinator: Coordinator

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            async let _ = coordinator.run()
            try await tell()
        }
    }

    /// Tells the role within a tenth of a second, and readings each second.
    private func tell() async throws {
        var machine = Machine()
        for tick in 0... {
            let role = coordinator.isHere ? "coordinator" : "worker"
            if service.value(of: Cluster.role) != role {
                try service.send(role, to: Cluster.role)
                say("role: \(role)")
            }
            if tick.isMultiple(of: 10), let sample = try? machine.sample() {
                if let load = sample.processorLoad { try service.send(Float(load), to: Cluster.load) }
                let memory = Float(sample.memory.used) / Float(max(1, sample.memory.total))
                try service.send(memory * 100, to: Cluster.memory)
                if let degrees = sample.temperature { try service.send(Float(degrees), to: Cluster.temperature) }
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
