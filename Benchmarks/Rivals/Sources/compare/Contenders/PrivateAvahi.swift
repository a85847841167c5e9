/// A private D-Bus and avahi-daemon, and ways to publish and browse through them.
final class PrivateAvahi {
    private let child: Child
    private let busAddress: String

    init(_ programs: Programs) throws {
        child = try Child(
            Command(
                programs.privateAvahi,
                ["--", "sh", "-c", "echo \"$DBUS_SYSTEM_BUS_ADDRESS\"; exec cat > /dev/null"]))
        busAddress = try child.line(within: 30).text
    }

    deinit { child.end() }

    /// The same command with this avahi-daemon only.
    func command(_ program: String, _ arguments: [String]) -> Command {
        Command(program, arguments, environment: ["DBUS_SYSTEM_BUS_ADDRESS": busAddress])
    }
}

/// A way to publish services and to look for them.
struct Discoverer {
    var name: String
    var browse: (_ avahi: PrivateAvahi, _ service: String) -> Command
    var publish: (_ avahi: PrivateAvahi, _ service: String, _ name: String) -> Command
    /// The prefix of a line that reports a resolved service.
    var foundPrefix: String
    /// A service's name, and so type, of its own.
    var service: String

    static let avahiName = "avahi-publish and -browse"

    static func all(_ programs: Programs) -> [Discoverer] {
        [
            Discoverer(
                name: Contender.elementalName,
                browse: { $0.command(programs.elemental, ["browse", $1, "--json"]) },
                publish: {
                    $0.command(
                        programs.elemental,
                        [
                            "publish", $1, "--name", $2, "--port", "0", "--address", "127.0.0.1", "--element",
                            "1:Value:double",
                        ])
                },
                foundPrefix: "{\"event\":\"found\"", service: "elemental"),
            Discoverer(
                name: avahiName,
                browse: { $0.command("avahi-browse", ["--resolve", "--parsable", "_\($1)._tcp"]) },
                publish: { $0.command("avahi-publish", ["-s", $2, "_\($1)._tcp", "4711"]) },
                foundPrefix: "=;", service: "avahi"),
        ]
    }
}
