import NIOCore
import TestSupport
import Testing

@testable import SignalR

/// Values from a hub that Swift's types cannot represent.
struct HostileValueTests {
    private static let nested = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
    /// Calls with numbers beyond 64 bits, halves of surrogate pairs and deep nesting, to begin a search from.
    private static let seeds = [
        #"{"type":1,"target":"A","arguments":[18446744073709551616,-9223372036854775809,1e400,1e-400,-0]}"#,
        #"{"type":1,"target":"A","arguments":["\ud83d","\ude00\ud83d","\ud83d\ude00","\\ud83d","\uD800"]}"#,
        #"{"type":1,"target":"\udfff","arguments":[{"\ud800":"\u0000"}]}"#,
        #"{"type":3,"invocationId":"1","error":"\ud800\u"}"#,
        #"{"type":1,"target":"A","arguments":\#(nested)}"#,
    ]

    @Test
    func mutatedMessagesAreDecodedOrAViolation() throws {
        var generator = SeededGenerator(seed: 12)
        let codec = HubProtocol.json.codec
        for seed in Self.seeds {
            for round in 0..<400 {
                var bytes = Array(seed.utf8)
                for _ in 0..<(round == 0 ? 0 : Int.random(in: 1...4, using: &generator)) {
                    let index = Int.random(in: bytes.indices, using: &generator)
                    // Bytes that already occur are likelier to have a meaning.
                    bytes[index] =
                        .random(using: &generator)
                        ? bytes[Int.random(in: bytes.indices, using: &generator)]
                        : .random(in: 0...255, using: &generator)
                }
                do throws(SignalRError) {
                    let message = try codec.read(ByteBuffer(bytes: bytes))
                    guard case .invocation(_, _, let arguments, _, _, _) = message else { continue }
                    let all = HubArguments(method: "", headers: [:], codec: codec, array: arguments)
                    _ = try codec.encode(try all.decodeAll(HubValue.self))
                } catch {
                    #expect(
                        [.protocolViolation, .invalidResult, .invalidArgument].contains(error.code), "\(error)")
                }
            }
        }
    }

    /// A text of nothing but halves is repaired in one go.
    @Test
    func manyHalvesOfSurrogatePairs() throws {
        let text = #"""# + String(repeating: #"\ud800"#, count: 100_000) + #"""#
        let value = try HubProtocol.json.codec.decode(String.self, from: ByteBuffer(string: text))
        #expect(value.unicodeScalars.count == 100_000)
        #expect(value.unicodeScalars.allSatisfy { $0 == "\u{fffd}" })
    }
}
