import Elemental

/// `NAME=VALUE` as it is typed, matched with an element.
struct Assignment: Sendable {
    let element: ElementDefinition
    let value: ElementValue

    /// Reads an assignment to one of `elements`.
    ///
    /// The name ends at the first `=` before which a known name stands, so that names may contain `=` themselves.
    /// - Parameters:
    ///   - place: whose elements they are, for the message.
    ///   - readsFiles: whether `@FILE` stands for a file's content where the element takes text or data.
    init(parsing text: String, among elements: ElementCatalogue, of place: String, readsFiles: Bool) throws {
        var position = text.startIndex
        while let sign = text[position...].firstIndex(of: "=") {
            if let element = elements[String(text[..<sign])] {
                self.element = element
                value = try Self.value(String(text[text.index(after: sign)...]), of: element, readsFiles: readsFiles)
                return
            }
            position = text.index(after: sign)
        }
        guard let sign = text.firstIndex(of: "=") else {
            throw CommandFailure("invalidText", "'\(text)' is no NAME=VALUE")
        }
        throw CommandFailure.unknownName(
            String(text[..<sign]), "element", among: elements.map(\.name), where: place)
    }

    /// Reads a value of the element.
    static func value(_ text: String, of element: ElementDefinition, readsFiles: Bool) throws -> ElementValue {
        do {
            if readsFiles, text.hasPrefix("@"), element.type == .string || element.type == .data {
                // "@@" stands for a text that begins with "@".
                if text.hasPrefix("@@") { return try ElementValue(text: String(text.dropFirst()), type: element.type) }
                let bytes = try FileContent.read(String(text.dropFirst()))
                guard let value = bytes.withUnsafeBytes({ ElementValue(wireBytes: $0, type: element.type) }) else {
                    throw CommandFailure("invalidText", "file '\(text.dropFirst())' is not UTF-8 text")
                }
                return value
            }
            return try ElementValue(text: text, type: element.type)
        } catch {
            let failure = CommandFailure(error)
            throw CommandFailure(failure.code, "element '\(element.name)': \(failure.description)")
        }
    }
}

extension ElementCatalogue {
    /// The elements with those names, or an error that lists the near ones.
    func elements(named names: [String], of place: String) throws -> [ElementDefinition] {
        try names.map { name in
            if let element = self[name] { return element }
            throw CommandFailure.unknownName(name, "element", among: map(\.name), where: place)
        }
    }
}
