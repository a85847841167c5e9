import ElementalWire
import TestSupport
import Testing

@testable import Elemental

/// What clients without pairing may take of a service, and how paired ones get it back.
struct PlainClientTests {
    private static func text(of peer: RawSocket) async throws -> String {
        let frame = try await peer.readFrame()
        #expect(frame.id == -3)
        return String(decoding: frame.value, as: UTF8.self)
    }

    @Test
    func clientsWithoutPairingGetHalfOfThePlaces() async throws {
        try await RoleService.with(.pairedToControl, { $0.maximumDeviceCount = 4 }) { house in
            let first = try await house.connectRaw(.plain).peer
            let second = try await house.connectRaw(.plain).peer
            let third = try house.open(.plain)
            #expect(
                try await Self.text(of: third).hasPrefix("refused: the service has its maximum of 2 unpaired clients"))
            // Their places are free again when they leave.
            first.closeOutput()
            _ = try await first.readToEnd()
            let fourth = try await house.connectRaw(.plain).peer
            let paired = [try await house.connect(.observe), try await house.connect(.control)]
            for device in paired { #expect(device.isConnected) }
            _ = (second, fourth)
            for device in paired { await device.close() }
        }
    }

    @Test
    func anOpenServiceGivesEveryPlaceToAnyone() async throws {
        try await RoleService.with(.open, { $0.maximumDeviceCount = 4 }) { house in
            let peers = [
                try await house.connectRaw(.plain), try await house.connectRaw(.plain),
                try await house.connectRaw(.plain), try await house.connectRaw(.plain),
            ]
            #expect(peers.map(\.udpIdentifier) == [1, 2, 3, 4])
            let more = try house.open(.plain)
            #expect(
                try await Self.text(of: more)
                    == "refused: the service has reached its maximum of 4 devices; try again later")
        }
    }

    @Test
    func aPairedClientTakesThePlaceOfTheOldestWithoutPairing() async throws {
        try await RoleService.with(.pairedToControl, { $0.maximumDeviceCount = 4 }) { house in
            let oldest = try await house.connect(.plain, as: "oldest")
            let other = try await house.connect(.plain, as: "other")
            let events = Transcript<String>()
            house.service.onEvent { event in
                if case .deviceDisconnected(let device, _) = event { events.add(device.name) }
            }
            var paired = [try await house.connect(.control, as: "1"), try await house.connect(.control, as: "2")]
            #expect(oldest.isConnected)
            paired.append(try await house.connect(.observe, as: "3"))
            let reason = try await oldest.waitUntilDisconnected()
            guard case .shutDown(let text) = reason.kind else { throw RawSocket.Failure(text: "\(reason)") }
            #expect(text.contains("a paired client needs this place") && text.contains("elemental pair"))
            #expect(other.isConnected)
            paired.append(try await house.connect(.admin, as: "4"))
            #expect(try await other.waitUntilDisconnected().kind != .closedHere)
            try await eventually { events.all == ["oldest", "other"] }
            // Paired ones make no room for one another, and one without pairing gets none.
            house.service.onConnectionRequest { .refuse("\($0.deviceCount)") }
            for role in [Role.plain, .admin] {
                let error = await elementalError { try await house.connect(role) }
                #expect(error?.description.contains("4 devices") == true)
            }
            for device in paired { #expect(device.isConnected) }
            await paired[0].close()
            // The count is right after all that.
            let error = await elementalError { try await house.connect(.control) }
            #expect(error?.description.contains("refused: 3") == true)
            for device in paired { await device.close() }
        }
    }

    /// It may take its time to leave: until then it has a connection, and no place.
    @Test
    func aClientThatDoesNotLeaveHoldsNoPlace() async throws {
        try await RoleService.with(.pairedToControl, { $0.maximumDeviceCount = 2 }) { house in
            let counts = Transcript<Int>()
            house.service.onConnectionRequest { request in
                if request.name == nil { counts.add(request.deviceCount) }
                return .accept
            }
            let first = try await house.connectRaw(.plain).peer
            let one = try await house.connect(.control)
            let two = try await house.connect(.control)
            #expect(try await Self.text(of: first).contains("a paired client needs this place"))
            await one.close()
            let second = try await house.connectRaw(.plain).peer
            let three = try await house.connect(.control)
            #expect(try await Self.text(of: second).contains("a paired client needs this place"))
            #expect(counts.all == [0, 1, 2, 1, 2])
            _ = first
            await two.close()
            await three.close()
        }
    }

    @Test
    func theLimitOfAnAddressIsNoHindranceForAPairedClientEither() async throws {
        try await RoleService.with(.pairedToControl, { $0.maximumDeviceCountPerAddress = 2 }) { house in
            let oldest = try await house.connectRaw(.plain).peer
            let other = try await house.connectRaw(.plain).peer
            let paired = try await house.connect(.observe)
            #expect(try await Self.text(of: oldest).contains("a paired client needs this place"))
            let more = try house.open(.plain)
            #expect(try await Self.text(of: more).contains("2 connections from this address"))
            let second = try await house.connect(.control)
            #expect(try await Self.text(of: other).contains("a paired client needs this place"))
            let error = await elementalError { try await house.connect(.control) }
            #expect(error?.description.contains("2 connections from this address") == true)
            await paired.close()
            await second.close()
        }
    }

    @Test
    func clientsWithoutPairingGet64Identifiers() async throws {
        try await RoleService.with(.pairedToControl) { house in
            var plain: [RawSocket] = []
            for number in 1...64 {
                let (peer, identifier) = try await house.connectRaw(.plain)
                #expect(identifier == UInt8(number))
                plain.append(peer)
            }
            let (without, none) = try await house.connectRaw(.plain)
            #expect(none == 0)
            var paired: [RawSocket] = []
            for number in 65...254 {
                let (peer, identifier) = try await house.connectRaw(.observe)
                #expect(identifier == UInt8(number))
                paired.append(peer)
            }
            // All are taken: the oldest client without pairing gives its own back.
            let (next, first) = try await house.connectRaw(.observe)
            #expect(first == 1)
            #expect(try await Self.text(of: plain[0]).contains("a paired client needs this place"))
            let (last, second) = try await house.connectRaw(.control)
            #expect(second == 2)
            _ = (without, next, last, plain, paired)
        }
    }

    @Test
    func halfOfThePlacesIsAtLeastOne() {
        #expect([0, 1, 2, 3, 1024].map { ServiceServer.plainCapacity(of: $0) } == [0, 1, 1, 2, 512])
    }
}
