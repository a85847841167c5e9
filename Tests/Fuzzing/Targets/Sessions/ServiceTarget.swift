import ElementalWire
import NIOCore
import NIOEmbedded

@testable import Elemental

/// A service whose client is hostile. Beside it there is another client, which must not notice. Each input is given to
/// an open service, and to one that lets this client read only, and not everything.
enum ServiceTarget: FuzzTarget {
    static let name = "service"

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        let lives = SessionSeeds.lives(frames)
        return [SessionSeeds.name, SessionSeeds.name + SessionSeeds.hello].flatMap { greeting in
            lives.map { greeting + $0 }
        } + lives + [SessionSeeds.hello + SessionSeeds.name]
    }

    static func run(_ input: UnsafeRawBufferPointer) {
        do {
            try run(InputReader(input), under: .open)
            try run(InputReader(input), under: .pairedToControl)
        } catch {
            fatalError("broken: \(error)")
        }
    }

    private static func run(_ input: InputReader, under policy: SecurityPolicy) throws {
        let loop = EmbeddedEventLoop()
        var configuration = ServiceConfiguration()
        configuration.security = ServiceSecurity(policy: policy, keys: nil)
        configuration.limits = HostilePeer.limits
        configuration.maximumIncompleteByteCount = 40 * 1024
        configuration.eventLoopGroup = loop
        let service = ElementalService(
            "fuzz", displayName: "Fuzz", elements: SessionElements.all, configuration: configuration)
        setAll(service)
        let values = Counter()
        service.onAnyValue { _, _, device in values.count(device) }
        let server = ServiceServer(service: service.shared, eventLoop: loop)
        let datagrams = EmbeddedChannel(loop: loop)
        try datagrams.pipeline.syncOperations.addHandler(server.makeDatagramHandler())
        datagrams.connect(to: HostilePeer.address("192.0.2.1"), promise: nil)
        server.open(datagrams: datagrams)

        let (bystander, bystanderDevice) = try connect(server, "192.0.2.3", loop)
        receive(bystander, [0xFE, 1, 0, 0, 0, 0x62])

        let peer = try HostilePeer(loop: loop, address: HostilePeer.address("192.0.2.2"), datagrams: datagrams) {
            try server.accept($0)
            $0.connect(to: HostilePeer.address("192.0.2.2"), promise: nil)
            return try $0.pipeline.syncOperations.handler(type: Session.self)
        }
        peer.hidden = service.shared.table(for: .plain).hidden
        var input = input
        peer.play(&input)
        setAll(service)
        loop.run()
        if policy != .open { check(values.count(of: peer.device) == 0, "a client that may only read has set a value") }

        receive(bystander, [1, 1, 0, 0, 0, 42])
        loop.run()
        check(values.count(of: bystanderDevice) == 1, "the other client's value was not told")
        check(bystanderDevice.disconnectReason == nil, "the other client was disconnected")
        check(bystanderDevice.statistics.messagesReceived == 1, "the other client got what was not its own")

        let identifier = peer.session.udpIdentifier
        peer.finish()
        let received = peer.device.statistics.messagesReceived
        check(values.count(of: peer.device) == received, "\(values.count(of: peer.device)) of \(received) values told")
        check(identifier == 0 || server.udpIdentifiers[identifier] == nil, "the identifier was not given back")
        check(
            server.incompleteByteCount == 0,
            "\(server.incompleteByteCount) bytes of a value that is gone are in the account")
        check(service.devices == [bystanderDevice], "the device is still there")
        _ = try? bystander.finish(acceptAlreadyClosed: true)
    }

    /// Sets an element of each kind, with and without a role that reads it.
    private static func setAll(_ service: ElementalService) {
        for element in SessionElements.all where element.access.contains(.read) {
            let bytes = [UInt8](repeating: 0, count: element.type.fixedByteCount ?? 0)
            let value = bytes.withUnsafeBytes { ElementValue(wireBytes: $0, type: element.type) }
            if let value { _ = try? service.send(value, to: element) }
        }
    }

    private static func connect(
        _ server: ServiceServer, _ host: String, _ loop: EmbeddedEventLoop
    ) throws -> (EmbeddedChannel, ElementalDevice) {
        let channel = EmbeddedChannel(loop: loop)
        channel.remoteAddress = HostilePeer.address(host)
        try server.accept(channel, role: .control)
        channel.connect(to: HostilePeer.address(host), promise: nil)
        return (channel, try channel.pipeline.syncOperations.handler(type: Session.self).device)
    }

    private static func receive(_ channel: EmbeddedChannel, _ bytes: [UInt8]) {
        channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes))
        channel.pipeline.fireChannelReadComplete()
    }
}
