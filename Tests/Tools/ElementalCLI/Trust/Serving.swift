import Elemental
import ElementalSecurity
import Foundation
import TestSupport

/// A process that serves, and a state directory of its own, which does not exist at first.
struct Serving: Sendable {
    let state: String

    static let robot = ["publish", "robot", "--unlisted", "--stay", "--element", "1:Speed:float=0.5"]

    static func with(_ body: (Serving) async throws -> Void) async throws {
        try await withFolder { try await body(Serving(state: $0 + "/state")) }
    }

    /// Runs a robot with JSON and this state directory during the body.
    func robot(_ options: String..., body: (_ service: ChildProcess, _ target: String) async throws -> Void)
        async throws
    {
        let arguments = Self.robot + ["--json", "--state", state] + options
        try await withCommand(arguments) { service in
            try await body(service, "127.0.0.1:\(service.listeningPort())")
        }
    }

    func run(_ arguments: String..., input: [String]? = nil) async throws -> CommandResult {
        try await ElementalProcess.run(arguments + ["--state", state], input: input)
    }
}

extension ChildProcess {
    /// Waits for a line for people.
    @discardableResult
    func nextRemark(_ text: String) async throws -> String {
        try await nextLine(of: .error, "a line with \"\(text)\"") { $0.contains(text) }.text
    }
}
