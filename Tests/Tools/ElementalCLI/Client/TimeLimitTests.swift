import Foundation
import TestSupport
import Testing

/// `--timeout` ends a wait, whatever else is sent over the connection meanwhile. Five seconds, because the handshake must come
/// in the same time on a busy machine.
struct TimeLimitTests {
    private static let picture = ScriptedService.Entry(id: 1, type: 12, name: Array("Picture".utf8))
    private static let unset = ScriptedService.Entry(id: 2, type: 12, name: Array("Unset".utf8))

    /// Runs a command while `serve` sends endlessly at the other end; the command must end by itself.
    private func run(
        _ arguments: [String], _ service: ScriptedService, _ entries: [ScriptedService.Entry],
        _ serve: @escaping @Sendable (RawSocket) async throws -> Void
    ) async throws -> ChildProcess.ExitStatus {
        try await ChildProcess.with(ElementalProcess.path, arguments) { child in
            child.closeInput()
            let socket = try await service.accept(entries)
            let serving = Task { try await serve(socket) }
            defer { serving.cancel() }
            let status = try await child.waitForExit()
            let told = child.lines(of: .error).joined()
            #expect(told.contains("Unset") || told.contains("too little"), "\(child.transcript)")
            return status
        }
    }

    @Test("a large value that repeats does not extend the wait for another element")
    func otherValues() async throws {
        let service = try ScriptedService()
        let arguments = ["get", service.target, "Unset", "--timeout", "5"]
        let status = try await run(arguments, service, [Self.picture, Self.unset]) { socket in
            let part = [UInt8](repeating: 0, count: 50_000)
            while !Task.isCancelled {
                for offset in stride(from: 0, to: 200_000, by: part.count) {
                    try socket.write(ScriptedService.piece(1, part, at: offset, of: 200_000))
                    try await Task.sleep(for: .milliseconds(20), clock: .suspending)
                }
            }
        }
        #expect(status == .exited(1))
    }

    @Test("get times out on a value of which a byte arrives now and then")
    func dribblingIn() async throws {
        let service = try ScriptedService()
        let arguments = ["get", service.target, "Unset", "--timeout", "5"]
        let status = try await run(arguments, service, [Self.picture, Self.unset]) { socket in
            for offset in 0..<200_000 where !Task.isCancelled {
                try socket.write(ScriptedService.piece(2, [0], at: offset, of: 200_000))
                try await Task.sleep(for: .milliseconds(100), clock: .suspending)
            }
        }
        #expect(status == .exited(1))
    }

    @Test("set times out on a service that accepts a byte now and then")
    func dribblingOut() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("elemental-\(UUID())")
        try Data(count: 1_000_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let service = try ScriptedService()
        let arguments = ["set", service.target, "Picture=@\(file.path)", "--timeout", "5"]
        let status = try await run(arguments, service, [Self.picture, Self.unset]) { socket in
            for taken in 1...200_000 where !Task.isCancelled {
                try socket.write(ScriptedService.frame(-9, ScriptedService.littleEndian(taken)))
                try await Task.sleep(for: .milliseconds(100), clock: .suspending)
            }
        }
        #expect(status == .exited(1))
    }

    @Test("a value that arrives steadily may take longer than --timeout")
    func steady() async throws {
        let service = try ScriptedService()
        let arguments = ["get", service.target, "Picture", "--raw", "--timeout", "2"]
        let total = 800_000
        try await ChildProcess.with(ElementalProcess.path, arguments) { child in
            let socket = try await service.accept([Self.picture])
            let part = [UInt8](repeating: 0x41, count: 20_000)
            for offset in stride(from: 0, to: total, by: part.count) {
                try socket.write(ScriptedService.piece(1, part, at: offset, of: total))
                try await Task.sleep(for: .milliseconds(100), clock: .suspending)
            }
            let status = try await child.waitForExit()
            #expect(status == .exited(0), "\(child.transcript.suffix(300))")
            #expect(child.lines(of: .output).reduce(0) { $0 + $1.utf8.count } == total)
        }
    }
}
