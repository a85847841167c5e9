import ElementalSecurity
import NIOCore
import NIOPosix
import Support

/// Whether the system's message bus, by which avahi-daemon is asked, is there.
enum BusCheck {
    private static let standardPath = "/run/dbus/system_bus_socket"
    private static let remedy = "sudo apt-get install dbus avahi-daemon; sudo systemctl start dbus avahi-daemon"

    static func run() async -> Finding {
        let address = StateDirectory.environment["DBUS_SYSTEM_BUS_ADDRESS"]
        guard let path = address.map({ path(in: $0) }) ?? standardPath else {
            return Finding(
                "D-Bus", .skipped, "the bus at '\((address ?? "").excerpt)' has no path that could be looked at")
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
