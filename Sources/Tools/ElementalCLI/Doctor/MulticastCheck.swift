import NIOCore
import NIOPosix
import Support

/// Checks on each network interface whether multicast works, by which hosts find each other. It sends a question, as a
/// program without a daemon would, and expects an answer, at least this host's own.
enum MulticastCheck {
    private static let answerTime = Duration.seconds(1)
    /// A host may have hundreds of interfaces for containers.
    private static let maximumInterfaceCount = 16

    static func run() async -> [Finding] {
        guard let group = try? SocketAddress(ipAddress: "224.0.0.251", port: 5353),
            let devices = try? System.enumerateDevices()
        else { return [Finding("multicast", .skipped, "the network interfaces cannot be listed")] }
        let interfaces = devices.filter { device in
            device.multicastSupported && device.address?.protocol == .inet && device.address?.ipAddress != nil
                && device.address?.ipAddress != "127.0.0.1"
        }
        guard !interfaces.isEmpty else {
            return [
                Finding(
                    "multicast", .warning, "no network interface but loopback has an IPv4 address",
                    advice: "services are found on this machine only; connect it to a network")
            ]
        }
        return await withTaskGroup(of: (Int, Finding).self) { tasks in
            for (number, interface) in interfaces.prefix(maximumInterfaceCount).enumerated() {
                guard let address = interface.address?.ipAddress else { continue }
                tasks.addTask { (number, await ask(interface.name, address, group)) }
            }
            var findings: [(Int, Finding)] = []
            for await finding in tasks { findings.append(finding) }
            return findings.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private static func ask(_ name: String, _ address: String, _ group: SocketAddress) async -> Finding {
        let check = "multicast on \(name)"
        let answers = Locked<Set<String>>([])
        let channel: any Channel
        do {
            channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(AnswerHandler(answers))
                    }
                }
                .bind(host: address, port: 0).get()
        } catch {
            return Finding(check, .problem, "a socket at \(address) cannot be opened: \(NetworkFailure(error).reason)")
        }
        defer { channel.close(promise: nil) }
        do {
            if let own = try? SocketAddress(ipAddress: address, port: 0), case .v4(let address) = own,
                let provider = channel as? any SocketOptionProvider
            {
                try await provider.setIPMulticastIF(address.address.sin_addr).get()
            }
            let question = AddressedEnvelope(remoteAddress: group, data: ByteBuffer(bytes: Self.question))
            try await channel.writeAndFlush(question).get()
        } catch {
            return Finding(
                check, .problem, "multicast cannot be sent from \(address): \(NetworkFailure(error).reason)",
                advice: "check the interface's routes and the firewall: UDP to 224.0.0.251, port 5353")
        }
        await Delay.wait(answerTime, on: channel.eventLoop)
        let count = answers.withLock { $0.count }
        guard count > 0 else {
            return Finding(
                check, .warning, "no host answers at \(address), not even this one",
                advice: "let UDP port 5353 through the firewall, and look at allow-interfaces and deny-interfaces in "
                    + "/etc/avahi/avahi-daemon.conf")
        }
        return Finding(check, .ok, "\(count) \(count == 1 ? "host answers" : "hosts answer"), asked from \(address)")
    }

    /// A DNS message that asks for all types of services: `_services._dns-sd._udp.local`, PTR.
    private static let question: [UInt8] = {
        var message: [UInt8] = [0x12, 0x34, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        for label in ["_services", "_dns-sd", "_udp", "local"] {
            message.append(UInt8(label.utf8.count))
            message += label.utf8
        }
        return message + [0, 0, 12, 0, 1]
    }()

    private final class AnswerHandler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>

        /// The maximum number of hosts that are counted.
        private static let most = 256
        private let answers: Locked<Set<String>>

        init(_ answers: Locked<Set<String>>) { self.answers = answers }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let envelope = Self.unwrapInboundIn(data)
            // An answer has the question's number, and the bit that marks an answer.
            guard envelope.data.readableBytes >= 12, envelope.data.getInteger(at: 0, as: UInt16.self) == 0x1234,
                let flags = envelope.data.getInteger(at: 2, as: UInt8.self), flags & 0x80 != 0,
                let host = envelope.remoteAddress.ipAddress
            else { return }
            answers.withLock { if $0.count < Self.most { $0.insert(host) } }
        }
    }
}
