import ElementalWire
import Testing

/// Push buttons and emergency stops.
struct ElementKindTests {
    private static let stop = Element<Bool>(1, "S").urgent
    /// The element's entry without its size and its kind.
    private static let entry: [UInt8] = [1, 13, 0b1100, 1, 83, 0]

    private static func read(_ entry: [UInt8]) throws -> ElementDefinition {
        try ElementCatalogue(bytes: [1, 1, UInt8(entry.count), 0] + entry)[0]
    }

    @Test
    func onlyABoolIsSomethingElseThanAState() throws {
        #expect(Self.stop.kind == .urgent && Element<Bool>(1, "S").momentary.kind == .momentary)
        #expect(Element<Bool>(1, "S").kind == .state && Self.stop != Element<Bool>(1, "S"))
        #expect(try ElementDefinition(id: 1, name: "S", type: .bool, kind: .urgent) == Self.stop)
        for kind in [ElementKind.momentary, .urgent] {
            let error = #expect(throws: WireError.self) {
                try ElementDefinition(id: 1, name: "S", type: .uint8, kind: kind)
            }
            #expect(error?.message.contains("only a bool can be \(kind.name)") == true)
        }
        #expect(Self.stop.writable(by: .admin).kind == .urgent)
    }

    @Test("the bytes are those of the documentation's page on the wire")
    func bytes() throws {
        #expect(try ElementCatalogue([Self.stop]).wireBytes == [1, 1, 9, 0] + Self.entry + [2, 1, 2])
        #expect(try ElementCatalogue([Element<Bool>(1, "S")]).wireBytes == [1, 1, 6, 0] + Self.entry)
        let all: ElementCatalogue = [Self.stop, Element<Bool>(2, "H").momentary, Element<Bool>(3, "L")]
        #expect(try ElementCatalogue(bytes: all.wireBytes) == all)
    }

    @Test("kinds that are not known, and those of other types, are ignored")
    func others() throws {
        for (extensions, kind) in [
            ([2, 1, 1], .momentary), ([2, 2, 2, 7], .urgent), ([9, 1, 0, 2, 1, 2], .urgent), ([2, 1, 3], .state),
            ([2, 0], .state), ([2, 1], .state), ([2, 1, 0], .state), ([1, 1, 2], .state),
        ] as [([UInt8], ElementKind)] {
            #expect(try Self.read(Self.entry + extensions).kind == kind, "\(extensions)")
        }
        #expect(try Self.read([1, 2, 0b1100, 1, 83, 0, 2, 1, 2]).kind == .state)
    }
}
