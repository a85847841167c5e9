import Elemental
import Support

/// Whether services can be published and found, and under which name the network knows this host.
enum DiscoveryCheck {
    /// Nobody else's services have this name.
    private static let service = "doctor-check"
    private static let remedy = "sudo apt-get install avahi-daemon; sudo systemctl start avahi-daemon"

    /// - Parameters:
    ///   - hasBus: whether the daemon can be asked at all.
    ///   - body: what is looked at while a service is published, by which this host answers others.
    static func run(_ output: OutputOptions, hasBus: Bool, _ body: () async -> [Finding]) async -> [Finding] {
        guard hasBus else {
            return [Finding("avahi-daemon", .skipped, "without the message bus it cannot be asked")] + (await body())
        }
        var configuration = ServiceConfiguration()
        configuration.address = "127.0.0.1"
        configuration.allowsUDP = false
        configuration.logger = output.logger
        let name = "\(HostName.current) \(UInt32.random(in: 0...UInt32.max))"
        let service = ElementalService(
            Self.service, displayName: String(name.prefix(60)), elements: [], configuration: configuration)
        let problem = Locked<String?>(nil)
        let isPublished = Latch()
        service.onEvent { event in
            switch event {
            case .published: isPublished.open()
            case .failedToPublish(let error, _):
                problem.withLock { $0 = error.message }
                isPublished.open()
            default: break
            }
        }
        do {
            try await service.start()
        } catch {
            return [Finding("avahi-daemon", .problem, error.message)] + (await body())
        }
        let findings = await look(for: service, isPublished, problem, output) + (await body())
        await service.stop(reason: "it was only a check")
        return findings
    }

    private static func look(
        for service: ElementalService, _ isPublished: Latch, _ problem: Locked<String?>, _ output: OutputOptions
    ) async -> [Finding] {
        let start = ContinuousClock.now
        _ = await Interruption.first {
            await isPublished.wait()
        } or: {
            await Delay.wait(output.limit)
        }
        if let reason = problem.withLock({ $0 }) {
            return [Finding("avahi-daemon", .problem, "services cannot be published: \(reason)", advice: remedy)]
        }
        do {
            let found = try await ElementalBrowser(service.service, logger: output.logger)
                .firstService(timeout: output.limit)
            let time = ContinuousClock.now - start
            return [
                Finding(
                    "avahi-daemon", .ok,
                    "a service was published and found in \(time.nanoseconds / 1_000_000) ms"),
                name(found.host),
            ]
        } catch {
            return [
                Finding(
                    "avahi-daemon", .problem, "a service that was published is not found: \(error.message)",
                    advice: remedy)
            ]
        }
    }

    /// Avahi gives a host another name if another host has its own.
    private static func name(_ host: String) -> Finding {
        let known = host.split(separator: ".").first.map(String.init) ?? host
        let own = HostName.current
        guard known.lowercased() != own.lowercased() else {
            return Finding("host name", .ok, "the network knows this host as \(known).local")
        }
        return Finding(
            "host name", .warning, "this host is '\(own)', and the network knows it as '\(known).local'",
            advice: "if another host has the name too, give this one another: sudo hostnamectl set-hostname NAME; then "
                + "sudo systemctl restart avahi-daemon")
    }
}
