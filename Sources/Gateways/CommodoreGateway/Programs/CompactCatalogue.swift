import Elemental
import PETSCII

/// The catalogue that a program declares in one envelope, designed for 6502 programs: bytes only, no alignment.
///
/// `version (1)`, then for each element: `id · type · flags · name length · name`, then, if flag bit 4 is set, the lower
/// and the upper bound as values of the type, and, if bit 5 is set, `unit length · unit`. Types are numbered as
/// ``ElementType``; flags are bit 1 latest, 2 the machine sends it, 3 clients set it. Texts are PETSCII in the set of
/// small and capital letters.
enum CompactCatalogue {
    static let identifier: Int8 = -10

    struct Problem: Error {
        let text: String
    }

    /// - Parameter own: the gateway's own elements, whose names are taken.
    static func elements(
        in bytes: ArraySlice<UInt8>, besides own: [any AnyElement]
    ) throws(Problem) -> [ElementDefinition] {
        var reader = Reader(rest: bytes)
        guard try reader.byte() == 1 else { throw Problem(text: "version is not 1") }
        var elements: [ElementDefinition] = []
        while !reader.rest.isEmpty {
            let element = try element(&reader)
            guard !CommodoreElements.ownIdentifiers.contains(element.id) else {
                throw Problem(text: "30 to 47 are the gateway's")
            }
            elements.append(element)
        }
        guard !elements.isEmpty else { throw Problem(text: "no elements") }
        do {
            _ = try ElementCatalogue(elements + own)
        } catch {
            throw Problem(text: "double number or name")
        }
        return elements
    }

    private static func element(_ reader: inout Reader) throws(Problem) -> ElementDefinition {
        let id = Int(try reader.byte())
        let code = try reader.byte()
        guard let type = ElementType(rawValue: code) else { throw Problem(text: "type \(code) of \(id)") }
        let flags = try reader.byte()
        func isSet(_ bit: UInt8) -> Bool { flags & 1 << bit != 0 }
        let name = try reader.text()
        var range: ClosedRange<Double>?
        if isSet(4) {
            guard type.isNumeric, let count = type.fixedByteCount else { throw Problem(text: "range of \(id)") }
            let lower = try reader.number(type, count)
            let upper = try reader.number(type, count)
            guard lower <= upper else { throw Problem(text: "range of \(id)") }
            range = lower...upper
        }
        let unit = isSet(5) ? try reader.text() : ""
        var access: Access = []
        if isSet(2) { access.insert(.read) }
        if isSet(3) { access.insert(.write) }
        do {
            return try ElementDefinition(
                id: id, name: name, type: type, unit: unit, range: range, access: access, latest: isSet(1))
        } catch {
            throw Problem(text: "element \(id)")
        }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func byte() throws(Problem) -> UInt8 {
            guard let byte = rest.popFirst() else { throw Problem(text: "cut off") }
            return byte
        }

        mutating func bytes(_ count: Int) throws(Problem) -> ArraySlice<UInt8> {
            guard rest.count >= count else { throw Problem(text: "cut off") }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }

        mutating func text() throws(Problem) -> String {
            String(petscii: try bytes(Int(try byte())), in: .lowerCase)
        }

        mutating func number(_ type: ElementType, _ count: Int) throws(Problem) -> Double {
            let bytes = try bytes(count)
            let value = bytes.withUnsafeBytes { type.number($0) }
            guard let value, !value.isNaN else { throw Problem(text: "range") }
            return value
        }
    }
}
