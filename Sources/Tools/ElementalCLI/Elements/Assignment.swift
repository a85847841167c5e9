import Elemental
import ElementalWire

/// `NAME=VALUE` from the command line, resolved to an element.
struct Assignment: Sendable {
    let element: ElementDefinition
    let value: ElementValue

    /// Parses an assignment to one of `elements`, with the value taken literally.
    init(parsing text: String, among elements: ElementCatalogue, of place: String) throws {
        let parts = try Self.split(text, elements, place)
        element = parts.element
        do {
            value = try ElementValue(text: String(parts.value), of: parts.element)
        } catch {
            throw CommandFailure(error, of: element)
        }
    }

    /// Parses an assignment, where `@FILE` stands for a file's content if the element takes text or data.
    init(
        parsing text: String, among elements: ElementCatalogue, of place: String, readingFilesFor timeout: Duration
    ) async throws {
        let parts = try Self.split(text, elements, place)
        element = parts.element
        value = try await Self.value(String(parts.value), of: element, readingFilesFor: timeout)
    }

    /// Parses a value of the element, where `@FILE` stands for a file's content if the element takes text or data, and
    /// `@@` begins a text that starts with `@`.
    static func value(
        _ text: String, of element: ElementDefinition, readingFilesFor timeout: Duration
    ) async throws -> ElementValue {
        do {
            guard text.hasPrefix("@"), element.type == .string || element.type == .data else {
                return try ElementValue(text: text, of: element)
            }
            let path = String(text.dropFirst())
            if path.hasPrefix("@") { return try ElementValue(text: path, of: element) }
            let limit =
                element.transport == .udp
                ? Envelope.maximumDatagramValueByteCount : DeviceLimits().maximumValueByteCount
            let content = try await FileContent.read(path, atMost: limit, timeout: timeout)
            guard let value = content.withUnsafeBytes({ ElementValue(wireBytes: $0, type: element.type) }) else {
                throw CommandFailure("invalidValue", "file '\(path.excerpt)' is not UTF-8 text")
            }
            return value
        } catch {
            throw CommandFailure(error, of: element)
        }
    }

    /// The element and the text of its value.
    ///
    /// The name ends at the first `=` that follows a known name, so names may contain `=` themselves.
    private static func split(
        _ text: String, _ elements: ElementCatalogue, _ place: String
    ) throws -> (element: ElementDefinition, value: Substring) {
        // Names are compared without regard to case, and a letter may take up to three times as many bytes in the other case.
        let limit = 3 * (elements.map(\.name.utf8.count).max() ?? 0)
        let beginning = text.utf8.prefix(limit + 1)
        for index in beginning.indices where beginning[index] == UInt8(ascii: "=") {
            guard let element = elements[String(text[..<index])] else { continue }
            return (element, text[text.utf8.index(after: index)...])
        }
        guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw CommandFailure("invalidText", "'\(text.excerpt)' is not NAME=VALUE")
        }
        throw CommandFailure.unknownName(
            String(text[..<sign]), "element", among: elements.map(\.name), where: place)
    }
}

extension CommandFailure {
    /// The failure of a value, with the element's name.
    fileprivate init(_ error: any Error, of element: ElementDefinition) {
        let failure = (error as? WireError).map { CommandFailure("invalidValue", $0.message) } ?? CommandFailure(error)
        self.init(failure.code, "element '\(element.name)': \(failure.description)")
    }
}

extension ElementCatalogue {
    /// The elements with those names.
    func elements(named names: [String], of place: String) throws -> [ElementDefinition] {
        try names.map { name in
            if let element = self[name] { return element }
            throw CommandFailure.unknownName(name, "element", among: map(\.name), where: place)
        }
    }
}
