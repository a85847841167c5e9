/// `ELEMENT=METHOD` from the command line: an element and the hub's method for it.
struct ElementMapping: Sendable {
    let element: String
    let method: String

    /// Parses a mapping. The last `=` separates the names, since an element's name may contain one.
    init(parsing text: String) throws(ArgumentProblem) {
        guard let sign = text.lastIndex(of: "="), sign != text.startIndex, text.index(after: sign) != text.endIndex
        else { throw ArgumentProblem("write it as ELEMENT=METHOD, as in 'Left arm=MoveArm'") }
        element = String(text[..<sign])
        method = String(text[text.index(after: sign)...])
    }
}
