import TestSupport
import Testing

@testable import MQTT

struct BrokerAddressTests {
    @Test(arguments: [
        ("mqtt://broker", "broker", 1883, false, nil as String?, "mqtt://broker"),
        ("MQTTS://Broker.Example", "Broker.Example", 8883, true, nil, "mqtts://Broker.Example"),
        ("mqtt://10.0.0.1:1884/", "10.0.0.1", 1884, false, nil, "mqtt://10.0.0.1:1884"),
        ("mqtts://[fe80::1]:8883", "fe80::1", 8883, true, nil, "mqtts://[fe80::1]"),
        ("mqtt://rob@broker", "broker", 1883, false, "rob", "mqtt://rob@broker"),
        ("mqtt://r%40b%20c@broker:1", "broker", 1, false, "r@b c", "mqtt://r%40b%20c@broker:1"),
        ("mqtt://bücher.example", "xn--bcher-kva.example", 1883, false, nil, "mqtt://xn--bcher-kva.example"),
    ])
    func valid(
        _ text: String, _ host: String, _ port: Int, _ isSecure: Bool, _ user: String?, _ description: String
    ) throws {
        let address = try MQTTAddress(text)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.isSecure == isSecure)
        #expect(address.user == user)
        #expect(address.description == description)
        #expect(try MQTTAddress(address.description) == address)
    }

    @Test(arguments: [
        "", "broker", "broker:1883", "http://broker", "mqtt://", "mqtt:///path", "mqtt://broker:0",
        "mqtt://broker:65536",
        "mqtt://broker:x", "mqtt://@broker", "mqtt://broker/path", "mqtt://broker?a=b", "mqtt://broker#a",
        "mqtt://two hosts",
    ])
    func invalid(_ text: String) {
        #expect(refusal { _ = try MQTTAddress(text) }?.code == .invalidAddress)
    }

    @Test
    func aPasswordIsRefusedAndNotRepeated() {
        let error = refusal { _ = try MQTTAddress("mqtt://rob:secret@broker") }
        #expect(error?.code == .invalidAddress)
        #expect(error?.message.contains("secret") == false)
        #expect(error?.message.contains("options") == true)
        let other = refusal { _ = try MQTTAddress("http://rob:secret@broker") }
        #expect(other?.message.contains("secret") == false)
    }

    @Test
    func topics() throws {
        #expect(try MQTTTopic("a/b").encoded == [0, 3] + Array("a/b".utf8))
        #expect(try MQTTTopic("/").name == "/")
        #expect(try MQTTTopic("Wärme/°C 🌡").name == "Wärme/°C 🌡")
        #expect(try MQTTTopic(String(repeating: "x", count: 65535)).encoded.prefix(2) == [255, 255])
        #expect(try MQTTTopic("$SYS/x") == MQTTTopic("$SYS/x"))
        for name in [
            "", "a/+", "#", "a#", "a\0b", "a\nb", "a\u{7F}", "a\u{9F}", "\u{FFFF}",
            String(repeating: "x", count: 65536),
        ] {
            #expect(refusal { _ = try MQTTTopic(name) }?.code == .invalidTopic, "\(name)")
        }
    }

    @Test
    func filters() throws {
        for filter in ["a", "+", "#", "/", "+/+", "a/+/b", "a/#", "/#", "$SYS/#"] {
            try MQTTTopic.check(filter: filter)
        }
        for filter in ["", "a+", "+a/b", "a/b#", "#/a", "a/#/b", "a\0", "a/##"] {
            let error = refusal { try MQTTTopic.check(filter: filter) }
            #expect(error?.code == .invalidTopic, "\(filter)")
        }
    }
}
