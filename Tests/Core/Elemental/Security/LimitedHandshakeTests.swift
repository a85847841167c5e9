import ElementalSecurity
import ElementalWire
import TestSupport
import Testing

@testable import Elemental

/// What clients do and say where a service limits the handshakes of their host.
struct LimitedHandshakeTests {
    enum Request: CaseIterable {
        case connect, pair, openWindow

        /// The error of a request that is answered.
        var answer: ElementalError.Code? { self == .pair ? .pairingClosed : nil }

        func error(_ ends: PairedEnds, _ port: Int) async -> ElementalError? {
            var options = ConnectOptions.patient
            options.security = ends.clientSecurity
            return await elementalError {
                switch self {
                case .connect: await (try ends.connect(port)).close()
                case .pair: try await Self.ask(port)
                case .openWindow:
                    _ = try await DiscoveredService.onLoopback(port).openPairing(
                        for: .seconds(3600), role: .observe, .code, options: options)
                }
            }
        }

        /// A stranger asks how to pair.
        static func ask(_ port: Int) async throws {
            var options = ConnectOptions.patient
            options.security = .required(identity: Ed25519Identity(), store: InMemoryTrustStore())
            let place = ServicePlace.address(host: "127.0.0.1", port: port)
            _ = try await place.pair(as: "x", options: options) { _ in nil }
        }
    }

    private static func withService(
        _ change: (inout ServiceConfiguration) -> Void = { _ in },
        _ body: (_ ends: PairedEnds, _ port: Int) async throws -> Void
    ) async throws {
        let ends = try PairedEnds(.admin)
        try await ends.withService(change) { _, port in try await body(ends, port) }
    }

    /// Begins as many handshakes as a host may in a second.
    private static func exhaust(_ port: Int) async {
        for _ in 0..<UnauthorisedConnections.handshakesPerSecond.perHost {
            #expect(await errorCode { try await Request.ask(port) } == .pairingClosed)
        }
    }

    @Test(arguments: Request.allCases)
    func aClientWaitsASecondAndTriesOnceMore(_ request: Request) async throws {
        // However long the handshakes before it take, the client's first one is too many.
        let (clock, letGo) = AcceptClock.standing()
        try await Self.withService {
            $0.acceptClock = clock
        } _: { ends, port in
            await Self.exhaust(port)
            letGo()
            let error = await request.error(ends, port)
            #expect(error?.code == request.answer, "\(String(describing: error))")
        }
    }

    @Test(arguments: Request.allCases)
    func aClientThatIsStillNotAnsweredSaysWhatItSaw(_ request: Request) async throws {
        try await Self.withService {
            $0.acceptClock = AcceptClock.stopped()
        } _: { ends, port in
            await Self.exhaust(port)
            let error = await request.error(ends, port)
            #expect(error?.code == .connectionFailed)
            #expect(
                error?.message.contains("the connection was closed before an answer, twice") == true,
                "\(String(describing: error))")
        }
    }

    /// An admin's command counts as a session does.
    @Test(arguments: [Request.connect, .openWindow])
    func aHostWithAnAuthorisedClientHasHandshakesOfItsOwn(_ request: Request) async throws {
        try await Self.withService {
            $0.acceptClock = AcceptClock.stopped()
        } _: { ends, port in
            #expect(await request.error(ends, port) == nil)
            for _ in 0..<2 * UnauthorisedConnections.handshakesPerSecond.perHost {
                let code = await errorCode { try await Request.ask(port) }
                #expect(code == (request == .openWindow ? .cancelled : .pairingClosed))
            }
        }
    }
}
