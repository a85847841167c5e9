import Elemental

/// `NAME=VALUE` as it is typed, matched with an element.
struct Assignment: Sendable {
    let element: ElementDefinition
    let value: ElementValue

    /// Reads an assignment to one of `elements`; the value is taken as it is.
    ///
    /// - Parameter place: whose elements they are, for the message.
    init(parsing text: String, among elements: ElementCatalogue, of place: String) throws {
        let parts = try Self.split(text, elements, place)
        element = parts.element
        value = try Self.naming(element) { try ElementValue(text: String(parts.value), type: parts.element.type) }
    }

    /// Reads an assignment to one of `elements`, where `@FILE` stands for a file's content if the element takes text or
    /// data.
    ///
    /// - Parameters:
    ///   - place: whose elements they are, for the message.
    ///   - timeout: how long nothing may come from a file that is a pipe.
    init(
        parsing text: String, among elements: ElementCatalogue, of place: String, readingFilesFor timeout: Duration
    ) async throws {
        let parts = try Self.split(text, elements, place)
        element = parts.element
        value = try await Self.value(String(parts.value), of: element, readingFilesFor: timeout)
    }

    /// Reads a value of the element, where `@FILE` stands for a file's content if the element takes text or data, and
    /// `@@` for a text that begins with `@`.
    static func value(
        _ text: String, of element: ElementDefinition, readingFilesFor timeout: Duration
    ) async throws -> ElementValue {
        guard text.hasPrefix("@"), element.type == .string || element.type == .data else {
            return try naming(element) { try ElementValue(text: text, type: element.type) }
        }
        let path = String(text.dropFirst())
        if path.hasPrefix("@") { return try naming(element) { try ElementValue(text: path, type: element.type) } }
        let limit =
            element.transport == .udp
            ? Envelope.maximumDatagramValueByteCount : DeviceLimits().maximumValueByteCount
        let content = await FileContent.result(of: path, atMost: limit, timeout: timeout)
        return try naming(element) {
            guard let value = try content.get().withUnsafeBytes({ ElementValue(wireBytes: $0, type: element.type) })
            else { throw CommandFailure("invalidText", "file '\(path.excerpt)' is not UTF-8 text") }
            return value
        }
    }

    /// The element and the text of its value.
    ///
    /// The name ends at the first `=` before which a known name stands, so that names may contain `=` themselves.
    private static func split(
        _ text: String, _ elements: ElementCatalogue, _ place: String
    ) throws -> (element: ElementDefinition, value: Substring) {
        // No name is longer, also where a letter in the other case takes three bytes instead of one.
        let limit = 3 * (elements.map(\.name.utf8.count).max() ?? 0)
        let beginning = text.utf8.prefix(limit + 1)
        for index in beginning.indices where beginning[index] == UInt8(ascii: "=") {
            guard let element = elements[String(text[..<index])] else { continue }
            return (element, text[text.utf8.index(after: index)...])
        }
        guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw CommandFailure("invalidText", "'\(text.excerpt)' is no NAME=VALUE")
        }
        throw CommandFailure.unknownName(
            String(text[..<sign]), "element", among: elements.map(\.name), where: place)
    }

    /// Names the element in what `body` throws.
    private static func naming<Result>(_ element: ElementDefinition, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
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
