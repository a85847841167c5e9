import Elemental

extension Client {
    /// The elements with those names, all of which can be read; every one that can be if no name is given.
    ///
    /// - Throws: ``CommandFailure`` for a name that is unknown or of a write-only element.
    func readable(_ names: [String]) throws -> [ElementDefinition] {
        guard !names.isEmpty else { return elements.elements.filter { $0.access.contains(.read) } }
        let wanted = try elements.elements(named: names, of: device.name)
        for element in wanted where !element.access.contains(.read) {
            throw CommandFailure(
                "notAllowed", "element '\(element.name)' is write-only: \(device.name) accepts values and sends none")
        }
        return wanted
    }
}
