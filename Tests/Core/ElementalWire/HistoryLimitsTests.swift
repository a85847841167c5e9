import Testing

@testable import ElementalWire

/// How many values a service keeps, as a catalogue says it.
struct HistoryLimitsTests {
    /// A float that can be read, without the size of its entry.
    private static let entry: [UInt8] = [1, ElementType.float.rawValue, 4, 1, 80, 0]

    private static func read(_ entry: [UInt8]) throws -> ElementDefinition {
        try ElementCatalogue(bytes: [1, 1, UInt8(entry.count), 0] + entry)[0]
    }

    @Test(arguments: [
        HistoryLimits(), HistoryLimits(count: 1, seconds: 2, byteCount: 3),
        HistoryLimits(count: 4_294_967_295, seconds: 4_294_967_295, byteCount: 4_294_967_295),
    ])
    func thereAndBack(limits: HistoryLimits) throws {
        let elements: [ElementDefinition] = [
            Element<Float>(1, "a", range: 0...1, access: .read).withTimes.withHistory(limits),
            Element<UInt8>(2, "b", choices: [0: "off", 1: "on"]).withHistory(limits),
            Element<Vector2>(3, "c", range: 0...1).withHistory(limits), Element<Float>(4, "d"),
        ]
        let catalogue = try ElementCatalogue(elements)
        let read = try ElementCatalogue(bytes: catalogue.wireBytes)
        #expect(read == catalogue)
        #expect(read.map(\.history) == [limits, limits, limits, nil])
    }

    @Test("an extension that is cut off, or has no limit in bytes, is none")
    func invalid() throws {
        let limits: [UInt8] = [5, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0]
        for (fields, expected) in [
            (limits, HistoryLimits(count: 5, byteCount: 7)), (limits + [9], HistoryLimits(count: 5, byteCount: 7)),
            (limits.dropLast(), nil), ([], nil), (limits.dropLast(4) + [0, 0, 0, 0], nil),
        ] as [([UInt8], HistoryLimits?)] {
            let read = try Self.read(Self.entry + [3, UInt8(fields.count)] + fields)
            #expect(read.history == expected, "\(fields)")
        }
    }
}
