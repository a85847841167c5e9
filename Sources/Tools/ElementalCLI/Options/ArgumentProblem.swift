/// Why an argument on the command line is not valid, in words. The parser adds which argument it is.
struct ArgumentProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
