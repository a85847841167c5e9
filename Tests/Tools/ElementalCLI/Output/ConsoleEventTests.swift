import ElementalFollowing
import Foundation
import Testing
import Zeroconf

@testable import Elemental
@testable import ElementalCLI

/// The forms of the command line's events: programs rely on the JSON byte for byte.
struct ConsoleEventTests {
    private static func element(_ type: ElementType, unit: String = "") throws -> ElementDefinition {
        try ElementDefinition(id: 1, name: "Speed", type: type, unit: unit)
    }

    private static func value(_ value: ElementValue, unit: String = "") throws -> ArrivedValue {
        ArrivedValue(try element(value.type, unit: unit), value, time: 1_700_000_000.25)
    }

    private static let rover = ServiceKey(service: "robot", name: "Rover")

    private static func text(_ event: some ConsoleEvent) -> [String] { event.jsonLines.map(\.text) }

    @Test
    func aValueKeepsItsDigitsAndEscapesItsSender() throws {
        let event = ValueEvent(
            arrived: try Self.value(.int64(9_007_199_254_740_993), unit: "m/s"),
            key: ServiceKey(service: nil, name: "a\u{1B}\"b"))
        let json =
            #"{"event":"value","service":null,"instance":"a\u001b\"b","element":"Speed","value":9007199254740993,"#
            + #""time":1700000000.25}"#
        #expect(Self.text(event) == [json])
        #expect(event.lines == ["Speed=9007199254740993 m/s"])
        #expect(event.isResult)
    }

    @Test
    func aNumberThatJSONDoesNotHaveIsAString() throws {
        let event = ValueEvent(arrived: try Self.value(.float(.nan)), key: Self.rover)
        #expect(Self.text(event)[0].contains(#""value":"nan","time":"#))
    }

    @Test
    func aLongValueIsNotRepeated() throws {
        let long = ElementValue.string(String(repeating: "x", count: 1025))
        let event = Notice.set(Self.rover, try Self.element(.string), long)
        #expect(
            Self.text(event) == [
                #"{"event":"set","service":"robot","instance":"Rover","element":"Speed","byteCount":1025}"#
            ])
        #expect(event.lines == ["Speed: 1025 bytes"])
        let received = ClientValueEvent(arrived: try Self.value(long), service: "lamp", client: "Rover")
        #expect(received.lines == ["Speed: 1025 bytes  from Rover"])
    }

    @Test
    func aLineTellsAllItsMembersInEveryState() {
        #expect(
            Self.text(Notice.line(.ready("/dev/pts/3")))
                == [#"{"event":"line","state":"ready","line":"/dev/pts/3","message":null,"delay":null}"#])
        #expect(
            Self.text(Notice.line(.opened))
                == [#"{"event":"line","state":"open","line":null,"message":null,"delay":null}"#])
        let lost = Notice.line(.lost("unplugged", retryIn: .milliseconds(500)))
        #expect(
            Self.text(lost) == [#"{"event":"line","state":"lost","line":null,"message":"unplugged","delay":0.5}"#])
        #expect(lost.lines == ["the line is lost: unplugged; retrying in 0.5 seconds"])
        #expect(!lost.isResult)
    }

    @Test(
        arguments: [
            ([:], "", #""txt":{},"security":"open","pairing":false"#),
            (["elemental": "1", "model": "X"], "  model=X", #""txt":{"model":"X"},"security":"open","pairing":false"#),
            (
                ["elemental": "1", "sec": "1", "model": "X"], "  [needs pairing to control]  model=X",
                #""txt":{"model":"X"},"security":"paired-to-control","pairing":false"#
            ),
            (["elemental": "1", "sec": "2"], "  [needs pairing]", #""txt":{},"security":"paired","pairing":false"#),
            (
                ["elemental": "1", "sec": "2", "pair": "1"], "  [needs pairing, pairing now]",
                #""txt":{},"security":"paired","pairing":true"#
            ),
            (
                ["elemental": "1", "sec": "9"], "  [unknown security policy]  sec=9",
                #""txt":{"sec":"9"},"security":null,"pairing":false"#
            ),
        ] as [([String: String], String, String)])
    func aServiceTellsWhatAClientNeeds(_ txt: [String: String], _ end: String, _ json: String) throws {
        let resolved = ResolvedService(
            instance: ServiceInstance(name: "Rover", type: try .tcp("robot")), host: "pi.local.", port: 41847,
            txt: TXTRecord(txt), addresses: [])
        let event = Notice.browsing(.found(DiscoveredService(resolved)), UserTrust(StateOptions()))
        let line = "+ robot/Rover                   pi.local:41847" + (end.isEmpty ? "" : "                         ")
        #expect(event.lines == [line + end])
        #expect(
            Self.text(event) == [
                #"{"event":"found","service":"robot","instance":"Rover","host":"pi.local","port":41847,"addresses":[],"#
                    + json + #","trust":"none","role":null}"#
            ])
    }

    @Test
    func aFailureIsAnEvent() {
        let failure = CommandFailure("timedOut", "too late")
        #expect(
            Self.text(failure) == [
                #"{"event":"error","reason":"timedOut","code":"timedOut","message":"too late"}"#
            ])
        #expect(failure.lines == ["elemental: too late"])
    }
}
