import Elemental
import Testing

@testable import SignalRBridge

/// Which hub method an element has.
struct BridgeOptionsTests {
    @Test(arguments: [
        ("Speed", "Speed"), ("Left arm", "LeftArm"), ("left-arm/2", "LeftArm2"), ("größe", "Größe"), ("  x  ", "X"),
    ])
    func methodsAreNamedByTheirElements(_ name: String, _ method: String) {
        #expect(BridgeOptions.method(for: name) == method)
    }

    @Test
    func routesAreChecked() throws {
        let elements: ElementCatalogue = [
            Element<Float>(1, "Left arm"), Element<Float>(2, "LeftArm"), Element<Bool>(3, "!"),
        ]
        var options = BridgeOptions()
        #expect(throws: BridgeError.self) { try options.routes(elements) }
        options.methods = ["Left arm": "Arm"]
        #expect(throws: BridgeError.self) { try options.routes(elements) }
        options.methods["!"] = "Alarm"
        #expect(try options.routes(elements).map(\.method) == ["Arm", "LeftArm", "Alarm"])
        options.methods["!"] = "leftARM"
        #expect(throws: BridgeError.self) { try options.routes(elements) }
        options.passesMappedOnly = true
        #expect(try options.routes(elements).map(\.method) == ["Arm", "leftARM"])
        options.methods["Unknown"] = "X"
        let error = #expect(throws: BridgeError.self) { try options.routes(elements) }
        #expect(error?.message.contains("'Unknown'") == true)
        #expect(error?.message.contains("'Left arm'") == true)
    }

    @Test
    func dataIsLongerInAMessage() {
        #expect(HubBridge.byteCount(of: .data(.init(repeating: 0, count: 30_000))) == 40_000)
    }
}
