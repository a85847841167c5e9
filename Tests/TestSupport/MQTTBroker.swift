import Foundation

/// A broker that is a private process of a test, on a loopback port that stays its own between two starts.
public protocol MQTTBroker: Sendable {
    /// The port it listens on, at 127.0.0.1.
    var port: Int { get }
    var process: BrokerProcess { get }
}

extension MQTTBroker {
    /// Starts it unless it runs, and returns when it listens.
    public func start() async throws { try await process.start() }
    /// Ends it in good order, and returns when it has ended.
    public func stop() async throws { try await process.stop() }
    /// Kills it as a crash would, and returns when it has ended.
    public func kill() async { await process.kill() }
    /// Stops the process (SIGSTOP): its port still accepts connections, and nobody answers.
    public func pause() { process.send(signal: SIGSTOP) }
    /// Lets a stopped process go on (SIGCONT).
    public func resume() { process.send(signal: SIGCONT) }
    /// All that it logged since its last start.
    public var transcript: String { process.transcript }

    /// Runs it during the body, and ends it in every case. Throws what the body throws, with the broker's log.
    public func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Self) async throws -> Result
    ) async throws -> Result {
        do {
            try await start()
            let result = try await body(self)
            await kill()
            return result
        } catch {
            await kill()
            throw TestSupportError("\(error)\n\(transcript)")
        }
    }
}
