import Foundation
import NIOCore
import Testing

@testable import SignalR

/// Numbers from a hub that do not fit a `Float`: a value that would be changed to infinity is refused.
struct FloatRangeTests {
    @Test(arguments: ["cb48078287f49c4a1d", "cbc8078287f49c4a1d"])
    func messagePackDoublesBeyondAFloat(_ hex: String) throws {
        #expect(throws: DecodingError.self) { try MessagePackDecoder().decode(Float.self, from: ByteBuffer(hex: hex)) }
        #expect(abs(try MessagePackDecoder().decode(Double.self, from: ByteBuffer(hex: hex))) > 1e38)
    }

    @Test("infinity and numbers within the range are accepted")
    func messagePackDoublesThatFit() throws {
        let decoder = MessagePackDecoder()
        #expect(try decoder.decode(Float.self, from: ByteBuffer(hex: "cb7ff0000000000000")) == .infinity)
        #expect(try decoder.decode(Float.self, from: ByteBuffer(hex: "cb3fe0000000000000")) == 0.5)
    }

    @Test(arguments: ["1e39", "-1e39", "[0,1e39]"])
    func jsonNumbersBeyondAFloat(_ text: String) throws {
        let codec = JSONCodec(encoder: JSONEncoder(), decoder: JSONDecoder())
        if text.hasPrefix("[") {
            #expect(throws: SignalRError.self) { try codec.decode([Float].self, from: ByteBuffer(string: text)) }
        } else {
            #expect(throws: SignalRError.self) { try codec.decode(Float.self, from: ByteBuffer(string: text)) }
        }
    }
}
