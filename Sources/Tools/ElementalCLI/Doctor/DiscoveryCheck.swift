import Elemental
import ElementalSecurity
import NIOCore
import NIOPosix
import Support
import Zeroconf

/// Whether services can be published and found, and under which name the network knows this host.
enum DiscoveryCheck {
    /// No other service has this name, and bridges do not show it, because it is not an element service.
    private static let service = "doctor-check"
    /// The port is announced but not open, because no client should connect.
    private static let port = 9
    private static let remedy = "sudo apt-get install avahi-daemon; sudo systemctl start avahi-daemon"

    /// - Parameters:
    ///   - hasBus: whether the message bus works, through which the daemon is asked.
    ///   - body: further checks while a service is published, so that this host answers others.
    static func run(_ output: OutputOptions, hasBus: Bool, _ body: () async -> [Finding]) async -> [Finding] {
        guard hasBus else {
            return [Finding("avahi-daemon", .skipped, "not checked, because it needs the message bus")] + (await body())
        }
        let name = "\(HostName.current.prefix(40)) \(UInt32.random(in: 0...UInt32.max))"
        let publisher: ServicePublisher
        do throws(ZeroconfError) {
            publisher = try ServicePublisher(name: name, type: try ServiceType.tcp(service), port: port)
        } catch {
            return [Finding("avahi-daemon", .problem, error.message)] + (await body())
        }
        publisher.start()
        let findings = await look(for: publisher, output) + (await body())
        await publisher.stop()
        return findings
    }

    /// Waits until the service is published, and then until it is found.
    private static func look(for publisher: ServicePublisher, _ output: OutputOptions) async -> [Finding] {
        let start = ContinuousClock.now
        let answer = await Interruption.limit(to: output.limit) { () -> String? in
            for await event in publisher.events() {
                switch event {
                case .published, .renamed: return nil
                case .failed(let error, _): return error.message
                }
            }
            return "the check was interrupted"
        }
        if let reason = answer ?? "the daemon does not answer within \(output.limit)" {
            return [Finding("avahi-daemon", .problem, "services cannot be published: \(reason)", advice: remedy)]
        }
        do {
            let found = try await ElementalBrowser(service, logger: output.logger).firstService(timeout: output.limit)
            let time = ContinuousClock.now - start
            return [
                Finding(
                    "avahi-daemon", .ok, "a service was published and found in \(time.nanoseconds / 1_000_000) ms"),
                self.name(found.host),
            ]
        } catch {
            return [
                Finding(
                    "avahi-daemon", .problem, "a published service was not found: \(error.message)",
                    advice: remedy)
            ]
        }
    }

    /// Avahi renames a host if another host has the same name.
    private static func name(_ host: String) -> Finding {
        let known = host.split(separator: ".").first.map(String.init) ?? host
        let own = HostName.current
        guard !known.isSameName(as: own) else {
            return Finding("host name", .ok, "the network knows this host as \(known).local")
        }
        return Finding(
            "host name", .warning, "this host is '\(own)', and the network knows it as '\(known).local'",
            advice: "if another host has the same name, rename this one: sudo hostnamectl set-hostname NAME; then "
                + "sudo systemctl restart avahi-daemon")
    }
}

/// Whether the system's message bus works, through which avahi-daemon is asked.
enum BusCheck {
    private static let standardPath = "/run/dbus/system_bus_socket"
    private static let remedy = "sudo apt-get install dbus avahi-daemon; sudo systemctl start dbus avahi-daemon"

    static func run() async -> Finding {
        let address = StateDirectory.environment["DBUS_SYSTEM_BUS_ADDRESS"]
        guard let path = address.map({ path(in: $0) }) ?? standardPath else {
            return Finding(
                "D-Bus", .skipped, "the bus at '\((address ?? "").excerpt)' has no path to check")
        }
        do {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(.seconds(3)).connect(unixDomainSocketPath: path).get()
            try? await channel.close()
            return Finding("D-Bus", .ok, "the system's message bus answers")
        } catch let error as IOError where error.errnoCode == ENOENT || error.errnoCode == ECONNREFUSED {
            return Finding("D-Bus", .problem, "there is no message bus at \(path)", advice: remedy)
        } catch {
            return Finding(
                "D-Bus", .problem, "the message bus at \(path) cannot be used: \(NetworkFailure(error).reason)",
                advice: remedy)
        }
    }

    /// The path in an address such as `unix:path=/run/bus,guid=…`.
    private static func path(in address: String) -> String? {
        address.split(separator: ";").filter { $0.hasPrefix("unix:") }
            .flatMap { $0.dropFirst("unix:".count).split(separator: ",") }
            .first { $0.hasPrefix("path=") }.map { String($0.dropFirst("path=".count)) }
    }
}
