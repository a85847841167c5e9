/// An element and the hub's method that stands for it, as they are typed: `ELEMENT=METHOD`.
struct ElementMapping: Sendable {
    let element: String
    let method: String

    /// What is wrong with a spelling, in words.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads a mapping; names of elements may hold an `=`, those of methods do not.
    init(parsing text: String) throws(Problem) {
        guard let sign = text.lastIndex(of: "="), sign != text.startIndex, text.index(after: sign) != text.endIndex
        else { throw Problem(description: "write it as ELEMENT=METHOD, as in 'Left arm=MoveArm'") }
        element = String(text[..<sign])
        method = String(text[text.index(after: sign)...])
    }
}
