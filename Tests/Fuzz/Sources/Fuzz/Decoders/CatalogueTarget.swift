import ElementalWire

/// A catalogue that can be read can be written and read again, and is the same.
enum CatalogueTarget: FuzzTarget {
    static let name = "catalogue"

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        [SessionElements.all.wireBytes]
            + (0...2).compactMap { try? ElementCatalogue(Array(SessionElements.all.suffix($0))).wireBytes }
    }

    static func run(_ input: UnsafeRawBufferPointer) {
        guard let catalogue = try? ElementCatalogue(wireBytes: input) else { return }
        let again = catalogue.wireBytes.withUnsafeBytes { try? ElementCatalogue(wireBytes: $0) }
        check(again == catalogue, "a catalogue that changes")
        for element in catalogue {
            check(catalogue[id: element.id] == element, "element \(element.id) cannot be found")
            check(catalogue[element.name] == element, "element '\(element.name)' cannot be found")
        }
    }
}
