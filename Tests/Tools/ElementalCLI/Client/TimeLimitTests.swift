import Foundation
import TestSupport
import Testing

/// `--timeout` ends a wait, whatever else is sent over the connection meanwhile.
struct TimeLimitTests {
    private static let picture = ScriptedService.Entry(id: 1, type: 12, name: Array("Picture".utf8))
    private static let unset = ScriptedService.Entry(id: 2, type: 12, name: Array("Unset".utf8))

    /// Runs a command until it ends by itself, while the other end sends one thing after the other, without an end.
    private func expectTimeout(
        _ command: [String], _ hint: String, every pause: Duration = .milliseconds(20), next: (Int) -> [UInt8]
    ) async throws {
        try await withGrowingTimeout { seconds in
            let service = try ScriptedService()
            let arguments = [command[0], service.target] + command.dropFirst() + ["--timeout", seconds]
            try await withCommand(arguments) { child in
                child.closeInput()
                let socket = try await service.accept([Self.picture, Self.unset])
                var number = 0
                try await eventually("the command ends", every: pause) {
                    // It may close the connection at any time.
                    try? socket.write(next(number))
                    number += 1
                    return !child.isRunning
                }
                let status = try await child.waitForExit()
                guard status == .exited(5), child.lines(of: .error).joined().contains(hint) else {
                    throw TestSupportError(child.transcript)
                }
            }
        }
    }

    @Test("get times out on a value of which a byte arrives now and then")
    func dribblingIn() async throws {
        try await expectTimeout(["get", "Unset"], "'Unset' arrives too slowly") { number in
            ScriptedService.piece(2, [0], at: number, of: 100_000_000)
        }
    }

    @Test("set times out on a service that accepts a byte now and then")
    func dribblingOut() async throws {
        try await withFolder { folder in
            try Data(count: 1_000_000).write(to: URL(filePath: folder + "/file"))
            try await expectTimeout(["set", "Picture=@\(folder)/file"], "accepted too little") {
                number in
                ScriptedService.frame(-9, ScriptedService.littleEndian(number + 1))
            }
        }
    }

    @Test("a value that arrives steadily may take longer than --timeout")
    func steady() async throws {
        let part = [UInt8](repeating: 0x41, count: 20_000)
        let total = 30 * part.count
        try await withGrowingTimeout { seconds in
            let service = try ScriptedService()
            try await withCommand(["get", service.target, "Picture", "--raw", "--timeout", seconds]) { child in
                let socket = try await service.accept([Self.picture])
                var offset = 0
                // In half as much time again as --timeout allows without progress.
                try await eventually("all parts are sent", every: Duration.seconds(try #require(Double(seconds))) / 20)
                {
                    try socket.write(ScriptedService.piece(1, part, at: offset, of: total))
                    offset += part.count
                    return offset == total
                }
                let status = try await child.waitForExit()
                let count = child.lines(of: .output).reduce(0) { $0 + $1.utf8.count }
                guard status == .exited(0), count == total else {
                    throw TestSupportError("\(status), \(count) bytes: \(child.lines(of: .error))")
                }
            }
        }
    }
}
