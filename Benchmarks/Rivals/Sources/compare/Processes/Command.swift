/// A program with its arguments.
struct Command {
    var program: String
    var arguments: [String]
    /// What is added to the environment.
    var environment: [String: String] = [:]

    init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
    }

    /// The same on the first core alone, as both ends are for a pinned measurement.
    func pinned(_ isPinned: Bool) -> Command {
        isPinned
            ? Command("taskset", ["--cpu-list", "0", program] + arguments, environment: environment)
            : self
    }

    /// As one would type it, for messages.
    var line: String {
        ([program.split(separator: "/").last.map(String.init) ?? program] + arguments).joined(separator: " ")
    }
}
