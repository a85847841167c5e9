import Elemental
import NIOCore
import NIOPosix
import Support
import TestSupport
import Testing
import WireVectors

/// Elements that the tests share.
enum Lamp {
    static let brightness = Element<Float>(1, "Brightness", range: 0...1)
    static let motion = Element<Vector3>(2, "Motion", transport: .udp)
    static let label = Element<String>(3, "Label")
    static let blob = Element<Data>(4, "Blob")
    static let level = Element<UInt32>(5, "Level", latest: true)
    static let reading = Element<Double>(6, "Reading", unit: "°C", access: .read)
    static let command = Element<UInt8>(7, "Command", access: .write)
    static let count = Element<UInt64>(8, "Count", transport: .udp)
    static let all: ElementCatalogue = [brightness, motion, label, blob, level, reading, command, count]
}

/// The elements of the recorded frames, plus the recorded datagram's.
enum Recorded {
    static let all: ElementCatalogue = {
        do {
            var elements = try WireVectors.recorded.tcpEchoes.map { echo in
                try ElementDefinition(
                    id: Int(echo.id), name: echo.type, type: try #require(ElementType(name: echo.type)))
            }
            elements.append(try ElementDefinition(id: 20, name: "datagram", type: .double, transport: .udp))
            return try ElementCatalogue(elements)
        } catch {
            preconditionFailure("\(error)")
        }
    }()
}

/// What is between a connection's bytes and the network.
enum ConnectionKind: CaseIterable {
    case plain, encrypted

    var service: ServiceSecurity {
        get async throws { self == .plain ? .open : try await PairedEnds.shared.value.serviceSecurity }
    }

    var client: ClientSecurity {
        get async throws { self == .plain ? .automatic : try await PairedEnds.shared.value.clientSecurity }
    }
}

/// Runs a service on a port that the system chooses, on loopback and unpublished, and stops it afterwards.
func withService(
    _ elements: ElementCatalogue = Lamp.all, over kind: ConnectionKind = .plain,
    _ change: (inout ServiceConfiguration) -> Void = { _ in },
    _ body: (ElementalService, Int) async throws -> Void
) async throws {
    var configuration = ServiceConfiguration()
    configuration.address = "127.0.0.1"
    configuration.isPublished = false
    configuration.security = try await kind.service
    // A slow machine does not make a client's handshake time out.
    configuration.limits.handshakeTimeout = Patience.wait
    change(&configuration)
    let service = ElementalService("test", displayName: "Test", elements: elements, configuration: configuration)
    try await service.start()
    let port = try #require(service.port)
    try await service.stop(after: { try await body(service, port) })
}

/// Runs a service and a client that is connected to it.
func withPair(
    _ elements: ElementCatalogue = Lamp.all, client: ElementCatalogue? = Lamp.all, over kind: ConnectionKind = .plain,
    _ change: (inout ServiceConfiguration) -> Void = { _ in },
    _ body: (_ service: ElementalService, _ device: ElementalDevice) async throws -> Void
) async throws {
    try await withService(elements, over: kind) {
        $0.limits.closeTimeout = Patience.wait
        change(&$0)
    } _: { service, port in
        let device = try await connect(port, elements: client, over: kind)
        try await body(service, device)
        await device.close()
    }
}

extension ConnectOptions {
    /// The tests' usual time limit: connecting is slow on a loaded machine, and slower with a sanitizer.
    static var patient: ConnectOptions { ConnectOptions(timeout: Patience.wait) }

    /// Closing also waits for as long until everything has been sent. Only for a peer that closes its side in return.
    static var patientAtTheEnd: ConnectOptions {
        ConnectOptions(timeout: Patience.wait, limits: DeviceLimits(closeTimeout: Patience.wait))
    }
}

extension ElementalDevice {
    /// Measures a round trip with the tests' patience. The library's default timeout is 5 s.
    @discardableResult
    func ping(over transport: Transport = .tcp, size: Int = 8) async throws -> Duration {
        try await ping(over: transport, size: size, timeout: Patience.wait)
    }
}

extension ElementalService {
    /// Stops after the body, also if that throws.
    func stop(after body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            await stop()
            throw error
        }
        await stop()
    }

    /// Why devices are disconnected from now on.
    func gatherReasons() -> Transcript<DisconnectReason> {
        let reasons = Transcript<DisconnectReason>()
        onEvent { event in
            if case .deviceDisconnected(_, let reason) = event { reasons.add(reason) }
        }
        return reasons
    }
}

/// The error that the body throws.
func elementalError<Result>(_ body: () async throws -> Result) async -> ElementalError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? ElementalError
    }
}

func errorCode<Result>(_ body: () async throws -> Result) async -> ElementalError.Code? {
    await elementalError(body)?.code
}

/// Connects a client that waits for hello and catalogue.
func connect(
    _ port: Int, as name: String = "tester", elements: ElementCatalogue? = Lamp.all, over kind: ConnectionKind = .plain,
    latency: Latency = .standard, on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
    configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in },
    with change: (inout ConnectOptions) -> Void = { _ in }
) async throws -> ElementalDevice {
    var options = ConnectOptions.patientAtTheEnd
    options.latency = latency
    options.eventLoopGroup = group
    options.expectsHello = true
    options.security = try await kind.client
    change(&options)
    if kind == .encrypted {
        return try await connectByName(port, as: name, elements: elements, options: options, configure: configure)
    }
    return try await ElementalDevice.connect(
        host: "127.0.0.1", port: port, as: name, elements: elements, options: options, configure: configure)
}

/// So many microseconds after a moment that is the same for all, for what has no clock.
func deadline(_ microseconds: Int) -> NIODeadline {
    .uptimeNanoseconds(1_000_000_000) + .microseconds(Int64(microseconds))
}
