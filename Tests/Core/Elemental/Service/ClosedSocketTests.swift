import ElementalWire
import TestSupport
import Testing

@testable import Elemental

/// A service after the system has closed its listening socket.
struct ClosedSocketTests {
    @Test(arguments: ConnectionKind.allCases, [Transport.tcp, .udp])
    func aListenerThatTheSystemClosesIsOpenedAgain(over kind: ConnectionKind, _ transport: Transport) async throws {
        try await withService(over: kind) { service, port in
            let events = Transcript<String>()
            service.onEvent { event in
                switch event {
                case .failedToListen(let error, _): events.add("\(error.code)")
                case .listening(let port): events.add("\(port)")
                default: break
                }
            }
            service.onValue(of: Lamp.motion) { value, device in try? device.send(value, to: Lamp.motion) }
            let first = try await connect(port, over: kind)
            switch transport {
            case .tcp: RawSocket.shutDownListener(at: port)
            case .udp:
                // SwiftNIO's debug build asserts that a UDP socket which was shut down has something to read.
                guard case .running(let listener, _) = service.state.withLock({ $0.phase }) else { return }
                try await listener.udp?.channel.close()
            }
            try await events.next { $0 == "listeningFailed" }
            // Meanwhile another program may have the port: a child of another test has a copy of the socket until it runs
            // its own program.
            try await events.next { $0 == "\(port)" }
            #expect(events.all.allSatisfy { ["listeningFailed", "addressInUse", "\(port)"].contains($0) })
            // The connection has lasted, and there are new ones.
            let second = try await connect(port, as: "second", over: kind)
            for device in [first, second] {
                try await device.ping()
                // A datagram may be lost, and its keys not be there yet.
                try await eventually {
                    try? device.send([1, 2, 3], to: Lamp.motion)
                    return device.value(of: Lamp.motion) == [1, 2, 3]
                }
                await device.close()
            }
        }
    }
}
