import Foundation
import TestSupport
import Testing

/// Machines that lack one of the address families, or have IPv6 on their loopback interface only. Each is a network namespace.
@Suite(.enabled(if: TestBed.isAvailable, "network namespaces cannot be made here"))
struct AddressFamilyTests {
    private static let withoutIPv6 = "sysctl -qw net.ipv6.conf.all.disable_ipv6=1"
    private static let withoutIPv4 = "ip addr del 127.0.0.1/8 dev lo; ip addr del 10.9.9.9/24 dev one"
    private static let loopbackIPv6 = "sysctl -qw net.ipv6.conf.one.disable_ipv6=1 net.ipv6.conf.two.disable_ipv6=1"

    private static func withCommand(
        _ setUp: String, _ arguments: [String], _ body: (ChildProcess) async throws -> Void
    ) async throws {
        let links = "ip link add one type veth peer name two; ip link set one up; ip link set two up"
        let script = "ip link set lo up; \(links); ip addr add 10.9.9.9/24 dev one; \(setUp); exec \"$@\""
        let command = ["--net", "sh", "-ec", script, "sh", try ElementalProcess.path] + arguments
        try await ChildProcess.with("unshare", command, body)
    }

    @Test(
        .backstop,
        arguments: [
            (withoutIPv6, "127.0.0.1"), (withoutIPv4, "[::1]"), (loopbackIPv6, "127.0.0.1"), (loopbackIPv6, "[::1]"),
        ])
    func aServiceListensOnWhatThereIs(_ setUp: String, _ host: String) async throws {
        let arguments = [
            "publish", "robot", "--unlisted", "--security", "open", "--json", "--element", "1:Count:int32=5",
        ]
        try await Self.withCommand(setUp, arguments) { service in
            let port = try await service.listeningPort()
            let values = try await ChildProcess.run(
                "nsenter",
                [
                    "--target", "\(service.processID)", "--net", try ElementalProcess.path, "get", "\(host):\(port)",
                    "Count", "--timeout", Patience.seconds,
                ])
            #expect(values == "Count=5")
        }
    }

    @Test(
        .backstop,
        arguments: [
            (withoutIPv6, "IPv6", "no interface has an IPv6 address, so nothing reaches"),
            (withoutIPv4, "IPv4", "no interface has an IPv4 address, so nothing reaches"),
            (loopbackIPv6, "IPv6", "only loopback has an IPv6 address, so other machines do not reach"),
        ])
    func doctorTellsWhatIsMissing(_ setUp: String, _ family: String, _ text: String) async throws {
        // Nothing is asked of the machine's own daemon.
        let setUp = setUp + "; export DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nowhere/bus"
        try await Self.withCommand(setUp, ["doctor", "--json"]) { doctor in
            _ = try await doctor.waitForExit()
            let finding = doctor.events("finding").first { $0["check"] == family }
            #expect(finding?["state"] == "warning", "\(doctor.transcript)")
            let told: String = finding?["message"] ?? ""
            #expect(told.hasPrefix(text), "\(told)")
        }
    }

    @Test(.backstop, arguments: [withoutIPv6, withoutIPv4, loopbackIPv6])
    func aPageIsServedOnWhatThereIs(_ setUp: String) async throws {
        try await Self.withCommand(setUp, ["dashboard", "127.0.0.1:9", "--lan", "--json"]) { dashboard in
            try await dashboard.nextEvent("serving")
        }
    }
}
