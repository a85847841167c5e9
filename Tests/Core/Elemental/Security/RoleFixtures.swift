import NIOCore
import NIOPosix
import Support
import TestSupport
import Testing

@testable import Elemental

/// Elements for which roles make a difference.
enum House {
    static let light = Element<Float>(1, "Light", range: 0...1)
    static let motion = Element<Vector3>(2, "Motion", transport: .udp)
    static let secret = Element<String>(3, "Secret").readable(by: .control)
    static let reset = Element<Bool>(4, "Reset").writable(by: .admin)
    static let bell = Element<UInt8>(5, "Bell").writable(by: .observe)
    static let command = Element<UInt8>(6, "Command", access: .write)
    static let level = Element<UInt32>(7, "Level", latest: true).readable(by: .control)
    static let position = Element<Float>(8, "Position", transport: .udp).readable(by: .control)
    static let film = Element<Data>(9, "Film").readable(by: .control)
    static let key = Element<String>(10, "Key").readable(by: .admin).writable(by: .observe)
    static let picture = Element<Data>(11, "Picture")
    static let all: ElementCatalogue = [
        light, motion, secret, reset, bell, command, level, position, film, key, picture,
    ]
    /// The same as a program has it that knows nothing of roles.
    static let permissive: ElementCatalogue = [
        Element<Float>(1, "Light"), motion, Element<String>(3, "Secret"), Element<Bool>(4, "Reset"), bell, command,
        Element<UInt32>(7, "Level", latest: true), Element<Float>(8, "Position", transport: .udp),
        Element<Data>(9, "Film"), Element<String>(10, "Key"), picture,
    ]
}

/// A service whose clients have the roles that a test gives them, over plain connections. Otherwise it is the real one:
/// encryption is what proves a role, and is below the session.
struct RoleService: Sendable {
    let service: ElementalService
    let port: Int
    let eventLoop: any EventLoop
    let server: NIOLoopBound<ServiceServer>
    private let role: Locked<Role>

    /// Runs one on loopback.
    static func with(
        _ policy: SecurityPolicy, elements: ElementCatalogue = House.all,
        _ change: (inout ServiceConfiguration) -> Void = { _ in }, _ body: (RoleService) async throws -> Void
    ) async throws {
        var configuration = ServiceConfiguration()
        configuration.security = ServiceSecurity(policy: policy, keys: nil)
        // Peers that say nothing stay, however slow the machine is.
        configuration.limits.handshakeTimeout = Patience.wait * 10
        change(&configuration)
        let service = ElementalService("test", displayName: "Test", elements: elements, configuration: configuration)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let role = Locked(Role.plain)
        let server = try await loop.submit {
            NIOLoopBound(ServiceServer(service: service.shared, eventLoop: loop), eventLoop: loop)
        }.get()
        // It is free over UDP too.
        let port = try PortLease.port()
        let tcp = try await ServerBootstrap(group: loop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try server.value.accept(channel, role: role.withLock { $0 })
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        let udp = try await DatagramBootstrap.elemental(on: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(server.value.makeDatagramHandler())
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        try await loop.submit { server.value.open(datagrams: udp) }.get()
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await body(
                    RoleService(service: service, port: port, eventLoop: loop, server: server, role: role)))
        } catch {
            result = .failure(error)
        }
        try await tcp.close()
        try await loop.flatSubmit { server.value.stop("the test is over") }.get()
        try await udp.close()
        try result.get()
    }

    /// Connects a client of that role. It learns the elements from the service, unless it has its own.
    func connect(
        _ role: Role, as name: String? = nil, elements: ElementCatalogue? = nil,
        configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in }
    ) async throws -> ElementalDevice {
        self.role.withLock { $0 = role }
        return try await ElementalTests.connect(
            port, as: name ?? role.rawValue, elements: elements, configure: configure)
    }

    /// Connects a peer of that role that sends and receives bytes, without waiting for an answer. The next peer may
    /// connect only after one.
    func open(_ role: Role) throws -> RawSocket {
        self.role.withLock { $0 = role }
        return try RawSocket.connect(to: port)
    }

    /// Connects one, and waits for its UDP identifier.
    func connectRaw(_ role: Role) async throws -> (peer: RawSocket, udpIdentifier: UInt8) {
        let peer = try open(role)
        let frame = try await peer.readFrame()
        try #require(frame.id == -1)
        return (peer, try #require(frame.value.first))
    }

    /// The service's end of the connection to the client of that name.
    func device(_ name: String) throws -> ElementalDevice {
        try #require(service.devices.first { $0.name == name })
    }
}

extension ElementalDevice {
    /// What is refused to it from now on.
    func gatherRefusals() -> Transcript<(id: Int8, refusal: ValueRefusal)> {
        let refusals = Transcript<(id: Int8, refusal: ValueRefusal)>()
        onRefusal { element, refusal, _ in refusals.add((id: element.id, refusal: refusal)) }
        return refusals
    }
}

/// A frame of the stream.
func frame(_ id: Int8, _ value: [UInt8]) -> [UInt8] {
    [UInt8(bitPattern: id)] + withUnsafeBytes(of: UInt32(value.count).littleEndian) { Array($0) } + value
}

func message(_ id: Int8, _ udpIdentifier: UInt8, _ value: [UInt8]) -> [UInt8] {
    [UInt8(bitPattern: id)] + withUnsafeBytes(of: UInt32(value.count).littleEndian) { Array($0) } + [udpIdentifier]
        + value
}

extension ElementCatalogue {
    /// `1rw 2ro …`
    var accesses: String { map { "\($0.id)\($0.access.abbreviation)" }.joined(separator: " ") }
}
