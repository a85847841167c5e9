/// A program with its arguments.
struct Command {
    var program: String
    var arguments: [String]
    /// Additional environment variables.
    var environment: [String: String] = [:]

    init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
    }

    /// The same command pinned to a core; not pinned if `nil`.
    func on(core: Int?) -> Command {
        guard let core else { return self }
        return Command("taskset", ["--cpu-list", "\(core)", program] + arguments, environment: environment)
    }

    /// The command line, for messages.
    var line: String {
        ([program.split(separator: "/").last.map(String.init) ?? program] + arguments).joined(separator: " ")
    }
}
