import ElementalWire

/// The elements of the sessions that are fuzzed: every type, both transports, and what an element can demand. A service
/// that goes by roles hides some of them from a client without pairing.
enum SessionElements {
    static let all: ElementCatalogue = {
        do {
            var elements = try ElementType.allCases.map { type in
                try ElementDefinition(id: Int(type.rawValue), name: type.name, type: type)
            }
            elements += [
                try ElementDefinition(id: 20, name: "ranged", type: .double, unit: "°C", range: -1...1, step: 0.5),
                try ElementDefinition(id: 21, name: "read", type: .uint8, access: .read),
                try ElementDefinition(id: 22, name: "write", type: .uint8, access: .write),
                try ElementDefinition(id: 23, name: "latest", type: .string, latest: true, readers: .control),
                try ElementDefinition(id: 24, name: "motion", type: .float3, transport: .udp),
                Element<UInt8>(25, "mode", choices: [0: "off", 1: "on", 200: "far"]),
                Element<String>(26, "speed", choices: ["slow", "fast"]),
                Element<Vector2>(27, "aim", range: -1...1),
                try ElementDefinition(
                    id: 127, name: "last", type: .data, transport: .udp, latest: true, readers: .control),
                try ElementDefinition(id: 28, name: "hidden", type: .data, readers: .observe, writers: .observe),
                try ElementDefinition(id: 30, name: "timed", type: .float, timed: true),
                Element<Float>(31, "kept").withHistory(HistoryLimits(count: 3)),
                try ElementDefinition(id: 29, name: "secret", type: .float, transport: .udp, readers: .admin),
            ]
            return try ElementCatalogue(elements)
        } catch {
            fatalError("\(error)")
        }
    }()
}
