import ElementalWire
import Testing
import WireVectors

/// Every frame recorded from the older implementation, byte for byte.
struct VectorTests {
    @Test(arguments: WireVectors.recorded.tcpEchoes)
    func recordedFrameDecodesToItsValueAndEncodesToItsBytes(_ echo: WireVectors.Echo) throws {
        let type = try #require(ElementType(name: echo.type))
        let frames = try Frames.decode(echo.bytes)
        let frame = try #require(frames.first)
        #expect(frames.count == 1)
        #expect(frame.id == echo.id)
        let value = try #require(frame.value.withUnsafeBytes { ElementValue(wireBytes: $0, type: type) })
        #expect(value.type == type)
        #expect(value == (try ElementValue(text: echo.value.typed, type: type)))
        #expect(Frames.encode(echo.id, value) == echo.bytes)
    }

    @Test
    func recordedSystemFrames() throws {
        let accept = try #require(try Frames.decode(WireVectors.bytes(WireVectors.recorded.onAccept.serverSends)).first)
        #expect(accept.id == SystemElement.udpIdentifier.rawValue)
        #expect(accept.value == [1])
        let hello = try #require(
            try Frames.decode(WireVectors.bytes(WireVectors.recorded.clientHello.clientSends)).first)
        #expect(hello.id == SystemElement.deviceName.rawValue)
        #expect(String(decoding: hello.value, as: UTF8.self) == "fake client")
    }

    @Test
    func recordedDatagram() throws {
        let recorded = WireVectors.recorded.udpDatagram
        let bytes = WireVectors.bytes(recorded.datagram)
        var seen: [(Int8, UInt8, Double?)] = []
        let result = bytes.withUnsafeBytes { bytes in
            DatagramDecoder.decode(bytes) { id, udpIdentifier, value in
                seen.append((id, udpIdentifier, Double(wireBytes: value)))
            }
        }
        #expect(result == .complete)
        #expect(seen.count == 1)
        #expect(seen.first?.0 == recorded.id)
        #expect(seen.first?.1 == recorded.udpIdentifier)
        #expect(seen.first?.2 == recorded.value)
    }
}
