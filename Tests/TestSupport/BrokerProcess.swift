import Foundation
import Support

/// The process of a broker that can be ended and started again, and the folder with its settings and what it stores.
public final class BrokerProcess: Sendable {
    let folder: String
    private let executable: String
    private let arguments: [String]
    private let readyLine: String
    private let process = Locked<ChildProcess?>(nil)

    /// - Parameters:
    ///   - arguments: made from the folder's path.
    ///   - readyLine: a part of the line in its log, on standard error, from which on it listens.
    init(
        _ executable: String, named name: String, readyLine: String, settings: (_ folder: String) -> String,
        arguments: (_ settings: String) -> [String]
    ) throws {
        self.executable = executable
        self.readyLine = readyLine
        folder = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let file = "\(folder)/settings"
        self.arguments = arguments(file)
        try settings(folder).write(toFile: file, atomically: false, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var running: ChildProcess? { process.withLock { $0 } }

    var transcript: String { process.withLock { $0 }?.transcript ?? "" }

    func start() async throws {
        guard process.withLock({ $0?.isRunning }) != true else { return }
        let child = try ChildProcess(executable, arguments)
        process.withLock { $0 = child }
        let readyLine = readyLine
        try await child.nextLine(of: .error, "that the broker listens") { $0.contains(readyLine) }
    }

    func stop() async throws {
        guard let child = process.withLock({ $0 }), child.isRunning else { return }
        child.send(signal: SIGCONT)
        child.send(signal: SIGTERM)
        try await child.waitForExit()
    }

    func kill() async { await running?.end() }

    func send(signal: Int32) { running?.send(signal: signal) }
}
