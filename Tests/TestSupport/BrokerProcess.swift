import Foundation
import Support

/// The process of a broker that can be ended and started again, and the folder with its settings and what it stores.
public final class BrokerProcess: Sendable {
    let folder: String
    private let executable: String
    private let arguments: [String]
    private let readyLine: String
    private let process = Locked<ChildProcess?>(nil)

    /// Makes the folder, and starts nothing.
    ///
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

    /// The process since its last start.
    var running: ChildProcess? { process.withLock { $0 } }

    /// All that it logged since its last start.
    public var transcript: String { process.withLock { $0 }?.transcript ?? "" }

    /// Starts it unless it runs, and returns when it listens.
    public func start() async throws {
        guard process.withLock({ $0?.isRunning }) != true else { return }
        let child = try ChildProcess(executable, arguments)
        process.withLock { $0 = child }
        let readyLine = readyLine
        try await child.nextLine(of: .error, "that the broker listens") {
            $0.contains(readyLine)
        }
    }

    /// Ends it in good order, and returns when it has ended.
    public func stop() async throws {
        guard let child = process.withLock({ $0 }), child.isRunning else { return }
        child.send(signal: SIGCONT)
        child.send(signal: SIGTERM)
        try await child.waitForExit()
    }

    /// Kills it as a crash would, and returns when it has ended.
    public func kill() async { await process.withLock { $0 }?.end() }

    /// Sends it a signal.
    public func send(signal: Int32) { process.withLock { $0 }?.send(signal: signal) }
}

/// A broker that consists of such a process.
public protocol ProcessBroker: MQTTBroker {
    /// Its process.
    var process: BrokerProcess { get }
}

extension ProcessBroker {
    public func start() async throws { try await process.start() }
    public func stop() async throws { try await process.stop() }
    public func kill() async { await process.kill() }
    public func pause() { process.send(signal: SIGSTOP) }
    public func resume() { process.send(signal: SIGCONT) }
    public var transcript: String { process.transcript }
}
