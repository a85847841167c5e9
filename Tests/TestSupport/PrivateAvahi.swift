import Foundation
import Support

/// A private D-Bus and avahi-daemon for a test.
///
/// Without a network namespace given, the avahi-daemon gets one of its own in which there is a loopback interface and
/// nothing else: two avahi-daemons on one loopback interface would fight over their host names. Programs that use it
/// need not be in it, for they reach it over D-Bus. In a namespace that is given it uses all interfaces.
///
/// Needs root: avahi-daemon uses /run/avahi-daemon unconditionally, so it gets a mount namespace of its own, too.
public final class PrivateAvahi: Sendable {
    private struct State {
        var bus: ChildProcess?
        var daemon: ChildProcess?
    }

    /// The host's name in Zeroconf, without `.local`.
    public let hostName: String
    public let namespace: String?
    private let usesIPv6: Bool
    private let directory: String
    private let state = Locked(State())

    /// Why it is not available here, or nil.
    public static var unavailableReason: String? {
        guard geteuid() == 0 else { return "a private avahi-daemon for a test needs root" }
        let programs = ["dbus-daemon", "dbus-send", "avahi-daemon", "unshare", "ip"]
        return programs.first { !ProcessSpawn.isOnPath($0) }
            .map { "\($0) is missing; on Debian: sudo apt-get install avahi-daemon dbus iproute2" }
    }

    /// Prepares the daemons; ``start()`` starts them.
    public init(hostName: String, namespace: String? = nil, usesIPv6: Bool = false) throws {
        if let reason = Self.unavailableReason { throw TestSupportError(reason) }
        self.hostName = hostName
        self.namespace = namespace
        self.usesIPv6 = usesIPv6
        // Short, because a socket's path may have at most 107 bytes.
        var template = Array("/tmp/zeroconf-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestSupportError("cannot make a folder in /tmp") }
        directory = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    /// Runs both daemons during the body, and ends them in every case.
    public static func with<Result>(
        hostName: String, namespace: String? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: (PrivateAvahi) async throws -> Result
    ) async throws -> Result {
        let avahi = try PrivateAvahi(hostName: hostName, namespace: namespace)
        return try await carryOut {
            try await avahi.start()
            return try await body(avahi)
        } finally: {
            await avahi.remove()
        }
    }

    /// The environment for processes that use these daemons.
    public var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(directory)/bus.sock"] }

    /// Starts the daemons that are not running, and returns when avahi-daemon answers that it is running.
    public func start() async throws {
        try writeConfiguration()
        if state.withLock({ $0.bus?.isRunning }) != true {
            unlink("\(directory)/bus.sock")
            let bus = try ChildProcess(
                "dbus-daemon",
                ["--config-file=\(directory)/bus.conf", "--nofork", "--nopidfile", "--nosyslog", "--print-address=1"],
                namespace: namespace)
            state.withLock { $0.bus = bus }
            // It prints its address once it listens; its socket is there before.
            try await bus.nextLine(beginningWith: "unix:path=")
        }
        if state.withLock({ $0.daemon?.isRunning }) != true {
            let prepare =
                "if [ -d /run/avahi-daemon ]; then mount -t tmpfs none /run/avahi-daemon; "
                + "else mount -t tmpfs none /run && mkdir /run/avahi-daemon; fi "
                + (namespace == nil ? "&& ip link set lo up " : "") + "&& exec \"$@\""
            let daemon = try ChildProcess(
                "unshare",
                (namespace == nil ? ["--net"] : []) + [
                    "--mount", "sh", "-c", prepare, "sh", "avahi-daemon", "--no-drop-root", "--no-chroot",
                    "--no-rlimits", "-f", "\(directory)/avahi-daemon.conf",
                ],
                environment: environment, namespace: namespace)
            state.withLock { $0.daemon = daemon }
            try await waitFor(daemon, "avahi-daemon's answer") { await self.isRunning() }
        }
    }

    /// Kills avahi-daemon like a crash, without goodbyes; the bus keeps running.
    public func kill() async { await state.withLock { $0.daemon }?.end() }

    public func killAll() async {
        await kill()
        await state.withLock { $0.bus }?.end()
    }

    /// Suspends (SIGSTOP) or continues (SIGCONT) avahi-daemon.
    public func suspend(_ isSuspended: Bool) {
        state.withLock { $0.daemon }?.send(signal: isSuspended ? SIGSTOP : SIGCONT)
    }

    /// Terminates both daemons and removes their files.
    public func remove() async {
        if let daemon = state.withLock({ $0.daemon }) {
            daemon.send(signal: SIGCONT)
            daemon.send(signal: SIGTERM)
            _ = try? await daemon.waitForExit(within: .seconds(5))
        }
        await killAll()
        try? FileManager.default.removeItem(atPath: directory)
    }

    public var transcript: String {
        state.withLock { [$0.bus, $0.daemon].compactMap { $0?.transcript }.joined(separator: "\n") }
    }

    private func isRunning() async -> Bool {
        // 2 is AVAHI_SERVER_RUNNING: the host name is established.
        let arguments = [
            "--system", "--print-reply=literal", "--reply-timeout=2000", "--dest=org.freedesktop.Avahi", "/",
            "org.freedesktop.Avahi.Server.GetState",
        ]
        let answer = try? await ChildProcess.run("dbus-send", arguments, environment: environment)
        return answer?.contains("int32 2") == true
    }

    private func waitFor(_ process: ChildProcess, _ what: String, _ isDone: () async -> Bool) async throws {
        do {
            // No reason to wait on when the process has ended.
            try await eventually(what, every: .milliseconds(30)) { await isDone() || !process.isRunning }
        } catch {
            throw TestSupportError("\(error)\n\(process.transcript)")
        }
        guard process.isRunning else { throw TestSupportError("\(what) did not come\n\(process.transcript)") }
    }

    private func writeConfiguration() throws {
        let bus = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>system</type>
              <listen>unix:path=\(directory)/bus.sock</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow user="*"/>
                <allow own="*"/>
                <allow send_destination="*" eavesdrop="true"/>
                <allow receive_sender="*"/>
              </policy>
            </busconfig>

            """
        let avahi = """
            [server]
            host-name=\(hostName)
            domain-name=local
            use-ipv4=yes
            use-ipv6=\(usesIPv6 ? "yes" : "no")
            disallow-other-stacks=no
            \(namespace == nil ? "allow-interfaces=lo" : "")
            [wide-area]
            enable-wide-area=no
            [publish]
            publish-hinfo=no
            publish-workstation=no
            publish-aaaa-on-ipv4=\(usesIPv6 ? "yes" : "no")

            """
        try bus.write(toFile: "\(directory)/bus.conf", atomically: false, encoding: .utf8)
        try avahi.write(toFile: "\(directory)/avahi-daemon.conf", atomically: false, encoding: .utf8)
    }
}
