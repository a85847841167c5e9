import Foundation
import Testing

@testable import TestSupport

/// What tests rely on whose servers return at their ports.
struct PortLeaseTests {
    @Test
    func aPortIsLeasedOnce() throws {
        let ports = try (0..<50).map { _ in try PortLease.port() }
        #expect(Set(ports).count == ports.count)
        for port in ports { #expect(throws: RawSocket.Failure.self) { try RawSocket.lease(port: port) } }
    }

    @Test
    func aServerListensAtALeasedPortAgainAndAgain() async throws {
        let port = try PortLease.port()
        for _ in 0..<3 {
            let (listener, _) = try RawSocket.listen(port: PortLease.again(port))
            let client = try RawSocket.connect(to: port)
            let server = try await listener.accept()
            try client.write([1])
            #expect(try await server.read(1) == [1])
        }
        // A child process that an exit test starts has a copy of the listener until it runs its own program.
        try await eventually("a connection is refused") { (try? RawSocket.connect(to: port)) == nil }
    }

    @Test
    func nothingElseListensAtALeasedPort() throws {
        // The system chooses from all ports that are free.
        let ports = try (0..<50).map { _ in try PortLease.port() }
        let chosen = try (0..<200).map { _ in try RawSocket.listen() }
        #expect(Set(ports).isDisjoint(with: chosen.map { $0.port }))
    }

    /// In a network namespace in which a lease holds all but two of the ports that outgoing connections may have.
    @Test(.enabled(if: TestBed.isAvailable, "network namespaces cannot be made here"))
    func anOutgoingConnectionNeverGetsALeasedPort() async throws {
        let script = """
            import socket, subprocess
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            with open("/proc/sys/net/ipv4/ip_local_port_range", "w") as file: file.write("20000 20003")
            leases = []
            for port in (20000, 20002):
                lease = socket.socket()
                lease.bind(("0.0.0.0", port))
                lease.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                leases.append(lease)
            server = socket.create_server(("127.0.0.1", 9))
            connections = []
            try:
                while True:
                    connections.append(socket.create_connection(("127.0.0.1", 9)))
            except OSError as error:
                print(error.strerror)
            print(sorted(connection.getsockname()[1] for connection in connections))
            """
        let output = try await ChildProcess.run("unshare", ["--net", "python3", "-c", script])
        #expect(output == "Cannot assign requested address\n[20001, 20003]")
    }
}
