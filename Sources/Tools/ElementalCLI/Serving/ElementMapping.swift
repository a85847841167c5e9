import ArgumentParser

/// `ELEMENT=NAME` from the command line: an element and what it is called on the other side.
struct ElementMapping: Sendable {
    let element: String
    let name: String

    /// Parses a mapping. The last `=` separates the names, since an element's name may contain one.
    init(parsing text: String) throws(ValidationError) {
        guard let sign = text.lastIndex(of: "="), sign != text.startIndex, text.index(after: sign) != text.endIndex
        else { throw ValidationError("write it as ELEMENT=NAME, as in 'Left arm=MoveArm'") }
        element = String(text[..<sign])
        name = String(text[text.index(after: sign)...])
    }
}
