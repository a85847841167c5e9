import Foundation
import Support

/// Two hosts on one machine: network namespaces joined by a veth pair, each with an avahi-daemon of its own.
///
/// Several test beds can exist at the same time, of one test run or of several. They do not reach the machine's own
/// network: both ends of the link are created inside the namespaces.
public final class TestBed: Sendable {
    public struct Host: Sendable {
        /// "a" or "b", and the host's name in Zeroconf.
        public let name: String
        public let namespace: String
        public let address: String
        public let avahi: PrivateAvahi

        /// Starts a process on this host that uses its avahi-daemon; end it, or use ``withChild(_:_:environment:_:)``.
        public func child(
            _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:]
        ) throws -> ChildProcess {
            try ChildProcess(
                executable, arguments, environment: avahi.environment.merging(environment) { $1 }, namespace: namespace)
        }

        /// Runs a process on this host during the body, and ends it in every case.
        public func withChild<Result>(
            _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
            isolation: isolated (any Actor)? = #isolation, _ body: (ChildProcess) async throws -> Result
        ) async throws -> Result {
            try await ChildProcess.with(
                executable, arguments, environment: avahi.environment.merging(environment) { $1 },
                namespace: namespace, body)
        }
    }

    public let a: Host
    public let b: Host

    private static let prefix = "zeroconf-"
    private static let link = "veth0"
    private static let counter = Locked(0)

    /// Why a test bed is not available here, or nil: it needs Linux, root, and `ip netns`.
    public static let unavailableReason: String? = {
        if let reason = PrivateAvahi.unavailableReason { return reason }
        let name = "\(prefix)\(getpid())-probe"
        let isMade = (try? ProcessSpawn.run("ip", ["netns", "add", name])) == .exited(0)
        _ = try? ProcessSpawn.run("ip", ["netns", "delete", name])
        return isMade ? nil : "network namespaces cannot be made here (\"ip netns add\" fails)"
    }()

    public static var isAvailable: Bool { unavailableReason == nil }

    private let hasBadLink: Bool
    private let relayProcess = Locked<ChildProcess?>(nil)
    private var relay: ChildProcess? { relayProcess.withLock { $0 } }

    private init(number: Int, usesIPv6: Bool, hasBadLink: Bool) throws {
        self.hasBadLink = hasBadLink
        let process = Int(getpid())
        let subnet = "10.\(64 + (process / 256 + number / 256) % 128).\((process + number) % 256)"
        func host(_ name: String, _ last: Int) throws -> Host {
            let namespace = "\(Self.prefix)\(process)-\(number)\(name)"
            return Host(
                name: name, namespace: namespace, address: "\(subnet).\(last)",
                avahi: try PrivateAvahi(hostName: name, namespace: namespace, usesIPv6: usesIPv6))
        }
        a = try host("a", 1)
        b = try host("b", 2)
    }

    /// Sets up a test bed, runs the body, and takes it down in every case. A bad link can be impaired.
    public static func with<Result>(
        usesIPv6: Bool = false, hasBadLink: Bool = false, isolation: isolated (any Actor)? = #isolation,
        _ body: (TestBed) async throws -> Result
    ) async throws -> Result {
        if let reason = unavailableReason { throw TestSupportError(reason) }
        let number = counter.withLock { counter in
            counter += 1
            return counter
        }
        if number == 1 { await sweep() }
        let bed = try TestBed(number: number, usesIPv6: usesIPv6, hasBadLink: hasBadLink)
        do {
            try await bed.setUp()
            let result = try await body(bed)
            await bed.tearDown()
            return result
        } catch {
            let daemons = [bed.a, bed.b].map(\.avahi.transcript).joined(separator: "\n")
            await bed.tearDown()
            throw TestSupportError("\(error)\nThe hosts' daemons:\n\(daemons)")
        }
    }

    /// Takes the link down.
    ///
    /// - Parameter host: whose end goes down. That host loses its interface, and its avahi-daemon forgets what it learnt
    ///   there; the other one only loses the carrier, which Avahi ignores by default (`use-iff-running=no`), so its
    ///   services stay listed. Without a host both ends go down.
    public func cutLink(at host: Host? = nil) async throws {
        for host in host.map({ [$0] }) ?? [a, b] {
            try await ip("-netns", host.namespace, "link", "set", Self.link, "down")
        }
    }

    public func restoreLink() async throws {
        for host in [a, b] { try await ip("-netns", host.namespace, "link", "set", Self.link, "up") }
    }

    /// Gives a host one more address on the link, in the same subnet (last byte 3...254).
    public func addAddress(_ last: Int, to host: Host) async throws -> String {
        let address = host.address.split(separator: ".").dropLast().joined(separator: ".") + ".\(last)"
        try await ip("-netns", host.namespace, "address", "add", "\(address)/24", "dev", Self.link)
        return address
    }

    /// Gives a host one more address on the link, of IPv4 or IPv6, which it has at once.
    public func addAddress(_ address: String, length: Int, to host: Host) async throws {
        let isIPv6 = address.contains(":")
        try await ip(
            ["-netns", host.namespace, "address", "add", "\(address)/\(length)", "dev", Self.link]
                + (isIPv6 ? ["nodad"] : []))
    }

    /// Replaces a host's address on the link by another one in the same subnet (last byte 3...254), and returns it.
    public func replaceAddress(by last: Int, of host: Host) async throws -> String {
        let address = try await addAddress(last, to: host)
        try await ip("-netns", host.namespace, "address", "delete", "\(host.address)/24", "dev", Self.link)
        // Deleting the first address of a subnet takes the others with it, unless the system promotes them.
        _ = try? await addAddress(last, to: host)
        return address
    }

    /// Makes the link drop, delay, reorder or throttle frames in both directions from now on; omitted faults are off.
    ///
    /// - Parameters: as `bad-link.py` explains them.
    /// - Returns: how many frames were carried and lost so far.
    @discardableResult
    public func impair(
        loss: Double? = nil, delay: Double? = nil, jitter: Double? = nil, hurry: Double? = nil, rate: Double? = nil
    ) async throws -> (frames: Int, lost: Int) {
        guard let relay else { throw TestSupportError("the bed was made without a bad link") }
        let faults = ["loss": loss, "delay": delay, "jitter": jitter, "hurry": hurry, "rate": rate]
            .compactMapValues { $0 }
        try relay.writeLine(String(decoding: JSONSerialization.data(withJSONObject: faults), as: UTF8.self))
        let counts = try await relay.nextEvent("set")
        return (Int(counts.number("frames") ?? 0), Int(counts.number("lost") ?? 0))
    }

    private func setUp() async throws {
        for host in [a, b] {
            try await ip("netns", "add", host.namespace)
            try await ip("-netns", host.namespace, "link", "set", "lo", "up")
        }
        if let relay = try relayed() {
            try await relay.nextEvent("ready")
        } else {
            try await ip(
                "-netns", a.namespace, "link", "add", Self.link, "type", "veth", "peer", "name", Self.link, "netns",
                b.namespace)
        }
        for host in [a, b] {
            try await ip("-netns", host.namespace, "address", "add", "\(host.address)/24", "dev", Self.link)
            try await ip("-netns", host.namespace, "link", "set", Self.link, "up")
        }
        for host in [a, b] { try await host.avahi.start() }
    }

    private func tearDown() async {
        await relay?.end()
        for host in [a, b] {
            await host.avahi.remove()
            // What was started in the namespace and is still there would keep it alive without a name.
            await Self.delete(namespace: host.namespace)
        }
    }

    private func relayed() throws -> ChildProcess? {
        guard hasBadLink else { return nil }
        let script = Repository.path("Tests/TestSupport/bad-link.py")
        let relay = try ChildProcess("python3", [script, a.namespace, b.namespace, Self.link])
        relayProcess.withLock { $0 = relay }
        return relay
    }

    private static func delete(namespace: String) async {
        let processes = (try? await ChildProcess.run("ip", ["netns", "pids", namespace])) ?? ""
        for process in processes.split(separator: "\n").compactMap({ pid_t($0) }) { kill(process, SIGKILL) }
        _ = try? await ChildProcess.run("ip", ["netns", "delete", namespace])
    }

    /// Takes down what test runs that were killed left behind: beds whose process is no longer there.
    private static func sweep() async {
        let list = (try? await ChildProcess.run("ip", ["netns", "list"])) ?? ""
        for line in list.split(separator: "\n") {
            guard let name = line.split(separator: " ").first.map(String.init), name.hasPrefix(prefix),
                let process = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ pid_t($0) }),
                kill(process, 0) == -1, errno == ESRCH
            else { continue }
            await delete(namespace: name)
        }
    }

    private func ip(_ arguments: String...) async throws { try await ip(arguments) }

    private func ip(_ arguments: [String]) async throws { try await ChildProcess.run("ip", arguments) }
}
