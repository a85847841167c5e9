/// Declarations that the fragments of a page use.
enum Prelude {
    static let ofPages = [
        "CommodoreGateway.md": "import CommodoreGateway",
        "HostilePeers.md": elemental,
        "MQTT.md": """
        import MQTT
        import NIOCore

        let client = MQTTClient(try MQTTAddress("mqtt://broker.local"))
        let readings: [(MQTTTopic, ByteBuffer)] = []
        """,
        "Performance.md": elemental,
        "SignalR.md": """
        import SignalR

        let connection = HubConnectionBuilder(url: "https://example.org/chat").build()
        let numbers = AsyncStream { 1 }
        func ask(_ question: String) -> Bool { true }
        """,
        "Survival.md": elemental,
        "Time.md": """
        import Elemental

        let robot = ElementalService("robot", elements: Robot.all)
        let device = try await ElementalBrowser("robot").firstService().connect(as: "Page", elements: Robot.all)
        func measure() async throws -> Vector3 { [0, 0, 0] }
        """,
        "VirtualCommodore.md": "import VirtualCommodore\nlet bytes: [UInt8] = []",
    ]

    private static let elemental = """
        import Elemental

        enum Lamp {
            static let level = Element<Float>(1, "Level", range: 0...1)
            static let all: ElementCatalogue = [level]
        }
        enum Robot {
            static let pose = Element<Vector3>(1, "Pose")
        }
        let browser = ElementalBrowser("lamp")
        let device = try await browser.firstService().connect(as: "Page", elements: Lamp.all)
        func show(_ text: String) {}
        func hideBanner() {}
        """
}
