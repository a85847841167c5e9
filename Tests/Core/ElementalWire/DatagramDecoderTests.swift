import ElementalWire
import Testing

struct DatagramDecoderTests {
    private func decode(_ bytes: [UInt8]) -> (result: DatagramDecoder.Result, ids: [Int8], values: [[UInt8]]) {
        var ids: [Int8] = []
        var values: [[UInt8]] = []
        let result = bytes.withUnsafeBytes { bytes in
            DatagramDecoder.decode(bytes) { id, _, value in
                ids.append(id)
                values.append(Array(value))
            }
        }
        return (result, ids, values)
    }

    @Test
    func severalMessagesInOneDatagram() {
        let decoded = decode([1, 1, 0, 0, 0, 7, 42, 2, 2, 0, 0, 0, 7, 1, 2])
        #expect(decoded.result == .complete)
        #expect(decoded.ids == [1, 2])
        #expect(decoded.values == [[42], [1, 2]])
    }

    @Test(arguments: [[], [1], [1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 7], [1, 255, 255, 255, 255, 7, 1]] as [[UInt8]])
    func aTruncatedDatagramIsMalformedAndDeliversNothing(_ bytes: [UInt8]) {
        let decoded = decode(bytes)
        #expect(decoded.result == .malformed)
        #expect(decoded.ids.isEmpty)
    }

    @Test
    func messagesBeforeATruncationAreDelivered() {
        let decoded = decode([1, 1, 0, 0, 0, 7, 42, 2, 9])
        #expect(decoded.result == .malformed)
        #expect(decoded.ids == [1])
    }
}
