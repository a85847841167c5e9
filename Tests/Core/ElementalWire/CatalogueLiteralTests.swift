import ElementalWire
import Foundation
import Testing

/// Catalogues as programs write them.
struct CatalogueLiteralTests {
    @Test
    func aLiteralHoldsElementsOfDifferentTypes() {
        #expect(Lamp.all.map(\.id) == [1, 2])
        #expect(Lamp.all.map(\.type) == [.float, .float3])
        #expect(Lamp.all[id: 1] == Lamp.brightness.definition)
        #expect(Lamp.all[id: 0] == nil && Lamp.all[id: 127] == nil && Lamp.all[id: -1] == nil)
        #expect(Lamp.all.usesUDP)
    }

    @Test
    func elementsAndDefinitionsStandInOneListAtRunTime() throws {
        let definition = try ElementDefinition(id: 3, name: "Label", type: .string)
        var elements: [any AnyElement] = [Lamp.brightness, definition]
        elements += [Lamp.motion]
        #expect(try ElementCatalogue(elements).map(\.name) == ["Brightness", "Label", "Motion"])
        #expect(try ElementCatalogue([Lamp.brightness, definition]) == [Lamp.brightness, definition])
    }

    @Test
    func anElementOfADefinitionIsEqualToIt() throws {
        let definition = try ElementDefinition(id: 3, name: "Label", type: .string, access: .read)
        let element = try Element<String>(definition)
        #expect(element.definition == definition)
        #expect(element.access == .read && element.name == "Label")
        #expect(throws: WireError.self) { try Element<Float>(definition) }
    }

    @Test
    func aNameIsFoundAsWrittenAndOtherwiseWithoutRegardToCase() {
        let catalogue: ElementCatalogue = [
            Element<Bool>(1, "Höhe"), Element<Bool>(2, "höhe"), Element<Bool>(3, "Weite"),
        ]
        #expect(catalogue["höhe"]?.id == 2)
        #expect(catalogue["HÖHE"]?.id == 1)
        #expect(catalogue["weite"]?.id == 3)
        #expect(catalogue["Tiefe"] == nil)
    }

    @Test("an array of bytes has the same encoding as Data", arguments: [[], [0], [1, 2, 255]] as [[UInt8]])
    func arraysOfBytes(_ bytes: [UInt8]) throws {
        #expect([UInt8].elementType == .data)
        #expect(bytes.elementValue == .data(Data(bytes)))
        #expect([UInt8](ElementValue.data(Data(bytes))) == bytes)
        #expect([UInt8](ElementValue.bool(true)) == nil)
        #expect(bytes.written == bytes)
        #expect(bytes.withUnsafeBytes { [UInt8](wireBytes: $0) } == bytes)
    }
}
