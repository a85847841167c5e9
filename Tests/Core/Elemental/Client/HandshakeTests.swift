import ElementalWire
import Testing

@testable import Elemental

/// What system frames mean, and when, without sockets.
struct HandshakeTests {
    private static let hello = Hello(features: [.ping, .catalogue]).wireBytes

    private func receive(_ element: SystemElement, _ value: [UInt8], _ handshake: inout Handshake) -> Handshake.Action {
        value.withUnsafeBytes { handshake.receive(element.rawValue, $0) }
    }

    private func word(_ action: Handshake.Action) -> String {
        switch action {
        case .udpIdentifier(let identifier): "identifier \(identifier)"
        case .named(let name): "name \(name)"
        case .hello(let hello): "hello \(hello.features.contains(.ping) ? "ping" : "")"
        case .catalogue(let catalogue): "catalogue \(catalogue.count)"
        case .invalidCatalogue: "invalid catalogue"
        case .shutDown(let text): "shut down \(text)"
        case .pong: "pong"
        case .ponged: "ponged"
        case .piece: "piece"
        case .piecesTaken: "taken"
        case .refused(let id, _): "refused \(id)"
        case .datagramSecret(let secret): "secret \(secret.count)"
        case .clock(let frame): "clock \(frame.kind)"
        case .timedValue: "timed value"
        case .historyRequest(let request): "history request \(request.token)"
        case .historyAnswer(let answer): "history answer \(answer.token)"
        case .unknown: "unknown"
        case .malformed: "malformed"
        }
    }

    /// What a service says, in the order in which one of this framework's says it.
    @Test
    func aServiceTellsItsIdentifierHelloAndCatalogue() {
        var handshake = Handshake(peer: .service)
        #expect(handshake.awaited == "the service's UDP identifier")
        #expect(word(receive(.udpIdentifier, [7], &handshake)) == "identifier 7")
        #expect(handshake.hasIdentifier)
        #expect(handshake.awaited == "the service's hello")
        #expect(word(receive(.hello, Self.hello, &handshake)) == "hello ping")
        #expect(handshake.hasHello)
        #expect(handshake.awaited == "the service's catalogue")
        #expect(word(receive(.catalogue, Lamp.all.wireBytes, &handshake)) == "catalogue \(Lamp.all.count)")
        #expect(handshake.hasCatalogue)
        #expect(word(receive(.shutdown, Array("off".utf8), &handshake)) == "shut down off")
    }

    @Test
    func aClientTellsItsNameAndHello() {
        var handshake = Handshake(peer: .client)
        #expect(handshake.awaited == "the client's name")
        #expect(word(receive(.deviceName, Array("Rob".utf8), &handshake)) == "name Rob")
        #expect(handshake.hasName)
        #expect(word(receive(.hello, Self.hello, &handshake)) == "hello ping")
    }

    @Test
    func whatIsSaidTwiceOrByTheWrongEndIsUnknown() {
        var service = Handshake(peer: .service)
        _ = receive(.udpIdentifier, [7], &service)
        _ = receive(.hello, Self.hello, &service)
        #expect(word(receive(.udpIdentifier, [8], &service)) == "unknown")
        #expect(word(receive(.hello, Self.hello, &service)) == "unknown")
        #expect(word(receive(.deviceName, [65], &service)) == "unknown")
        #expect(word(receive(.admission, [1], &service)) == "unknown")
        var client = Handshake(peer: .client)
        _ = receive(.deviceName, [65], &client)
        _ = receive(.hello, Self.hello, &client)
        for element: SystemElement in [
            .deviceName, .hello, .udpIdentifier, .shutdown, .catalogue, .refused, .admission,
        ] {
            #expect(word(receive(element, [1], &client)) == "unknown")
        }
        #expect([UInt8](repeating: 0, count: 1).withUnsafeBytes { word(client.receive(-100, $0)) } == "unknown")
    }

    /// An extension before the hello, from a peer that never says one perhaps, is skipped.
    @Test(arguments: [SystemElement.catalogue, .ping, .pong, .piece, .piecesTaken, .refused])
    func extensionsBeforeTheHelloAreUnknown(_ element: SystemElement) {
        var handshake = Handshake(peer: .service)
        #expect(word(receive(element, [0, 0, 0, 0, 0, 0, 0, 0], &handshake)) == "unknown")
        #expect(!handshake.hasCatalogue)
    }

    @Test
    func framesThatAreNotWhatTheyPromiseAreMalformed() {
        var handshake = Handshake(peer: .service)
        #expect(word(receive(.udpIdentifier, [1, 2], &handshake)) == "malformed")
        #expect(word(receive(.hello, [], &handshake)) == "malformed")
        #expect(!handshake.hasIdentifier && !handshake.hasHello)
        _ = receive(.hello, Self.hello, &handshake)
        #expect(word(receive(.ping, [], &handshake)) == "malformed")
        #expect(word(receive(.ping, [UInt8](repeating: 0, count: 1024), &handshake)) == "pong")
        #expect(word(receive(.ping, [UInt8](repeating: 0, count: 1025), &handshake)) == "malformed")
        #expect(word(receive(.refused, [], &handshake)) == "malformed")
    }

    @Test
    func aCatalogueThatCannotBeReadIsToldOnce() {
        var handshake = Handshake(peer: .service)
        _ = receive(.hello, Self.hello, &handshake)
        #expect(word(receive(.catalogue, [1, 2, 3], &handshake)) == "invalid catalogue")
        #expect(handshake.hasCatalogue)
        #expect(word(receive(.catalogue, [1, 2, 3], &handshake)) == "malformed")
        #expect(word(receive(.catalogue, Lamp.all.wireBytes, &handshake)) == "catalogue \(Lamp.all.count)")
    }

    /// A long name is cut and one that is not UTF-8 is repaired.
    @Test
    func noNameIsTooBad() {
        var handshake = Handshake(peer: .client)
        let long = [UInt8](repeating: 65, count: SystemElement.maximumNameByteCount + 100)
        guard case .named(let name) = receive(.deviceName, long, &handshake) else { return #expect(Bool(false)) }
        #expect(name.utf8.count == SystemElement.maximumNameByteCount)
        handshake = Handshake(peer: .client)
        #expect(word(receive(.deviceName, [0xff, 65], &handshake)) == "name \u{fffd}A")
    }
}
