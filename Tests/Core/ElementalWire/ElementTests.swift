import ElementalWire
import TestSupport
import Testing

struct ElementTests {
    @Test(arguments: [-1, 128, 1000])
    func aWrongIdentifierIsAnErrorThatNamesTheElement(_ id: Int) {
        let error = #expect(throws: WireError.self) { try ElementDefinition(id: id, name: "Speed", type: .float) }
        #expect(error?.code == .invalidDefinition)
        #expect(error?.message.contains("Speed") == true)
        #expect(error?.message.contains("0 to 127") == true)
    }

    @Test(arguments: [(3, "Speed", ["Speed", "Arm"]), (4, "Arm", ["3", "4"])])
    func whatIsDoubledIsAnErrorThatNamesBoth(_ id: Int, _ name: String, _ told: [String]) throws {
        let elements = [
            try ElementDefinition(id: 3, name: "Arm", type: .bool),
            try ElementDefinition(id: id, name: name, type: .float),
        ]
        let error = #expect(throws: WireError.self) { try ElementCatalogue(elements) }
        #expect(error?.code == .duplicateElement)
        #expect(told.allSatisfy { error?.message.contains($0) == true })
    }

    @Test
    func aDoubledIdentifierInALiteralStopsTheProgramWithBothNames() async {
        await #expect(processExitsWith: .failure) {
            let catalogue: ElementCatalogue = [Element<Float>(1, "Speed"), Element<Bool>(1, "Arm")]
            print(catalogue.count)
        }
    }

    @Test
    func aWrongIdentifierInALiteralStopsTheProgram() async {
        await #expect(processExitsWith: .failure) { print(Element<Float>(128, "Speed").id) }
    }

    @Test
    func rangesBelongToNumbers() throws {
        #expect(throws: WireError.self) { try ElementDefinition(id: 1, name: "Text", type: .string, range: 0...1) }
        #expect(throws: WireError.self) { try ElementDefinition(id: 1, name: "N", type: .float, step: 0) }
        let element = Element<Float>(1, "Level", range: 0...1)
        #expect(element.allows(1) && element.allows(0) && !element.allows(1.01) && !element.allows(.nan))
    }
}

struct CatalogueWireTests {
    private static let catalogue: ElementCatalogue = [
        Element<Float>(0, "Brightness", unit: "cd/m²", range: 0...1, step: 0.01),
        Element<Vector3>(127, "Motion", transport: .udp, access: .write, latest: true),
        Element<String>(7, "Name", access: .read),
        Element<UInt8>(8, "Level", range: 0...10),
    ]

    @Test
    func cataloguesSurviveTheWire() throws {
        let full = try ElementCatalogue((0...127).map { try ElementDefinition(id: $0, name: "E\($0)", type: .double) })
        for catalogue in [Self.catalogue, [], full] {
            #expect(try ElementCatalogue(bytes: catalogue.wireBytes) == catalogue)
        }
    }

    @Test("an unknown type of a later version is left out, the rest is read")
    func unknownTypesAreLeftOut() throws {
        var bytes = Self.catalogue.wireBytes
        bytes[5] = 99  // the first entry's type
        let read = try ElementCatalogue(bytes: bytes)
        #expect(read.map(\.id) == [127, 7, 8])
    }

    @Test
    func everyCutIsAnError() {
        let bytes = Self.catalogue.wireBytes
        for count in 0..<bytes.count {
            #expect(throws: WireError.self, "cut at \(count)") {
                _ = try ElementCatalogue(bytes: Array(bytes[..<count]))
            }
        }
    }

    @Test
    func hostileBytesAreErrorsOrCatalogues() {
        var random = SeededGenerator(seed: 23)
        var errors = 0
        for _ in 0..<20_000 {
            var bytes = Self.catalogue.wireBytes
            for _ in 0...Int.random(in: 0...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            if (try? ElementCatalogue(bytes: bytes)) == nil { errors += 1 }
        }
        #expect(errors > 0)
    }
}
