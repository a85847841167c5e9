import ArgumentParser
import SignalR

/// Prints the items of a hub's stream.
struct SignalRStreamCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "stream",
        abstract: "Call a hub's method that answers with a stream, and print its items as JSON.",
        discussion: """
            A line each, as they come. It ends with the stream, on Ctrl-C, after --count items and after --for; the hub is \
            told that no more are wanted. With --reconnect the method is called again when the connection was lost.

              $ elemental signalr stream http://localhost:5000/chat Counter 10
              $ elemental signalr stream http://localhost:5000/chat Prices ACME --count 3 --json | jq .item
            """)

    @OptionGroup var call: HubCallOptions

    @Option(help: "How many items to print.")
    var count: Int?

    @Option(name: .customLong("for"), help: ArgumentHelp("How long to print items.", valueName: "seconds"))
    var time: Seconds?

    @OptionGroup var reconnection: HubReconnectOptions
    @OptionGroup var hub: HubOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count takes a number above 0, not \(count)") }
    }

    func perform(_ console: Console) async throws {
        let (count, time) = (count, time?.duration)
        try await Interruption.run(console, count == nil ? .endless : .counted) { [call, reconnection, hub, output] in
            let remaining = Counter(count ?? .max)
            let connection = try await hub.connection(to: call.url, output, reconnects: reconnection.reconnect)
            try await HubClient.with(call.url, connection, console) { client in
                let (returns, hasReturned) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                let telling = Task {
                    _ = await client.tellUntilClosed { hasReturned.yield() }
                    hasReturned.finish()
                }
                defer { telling.cancel() }
                try await Interruption.limit(to: time) {
                    while true {
                        do {
                            return try await call.printItems(of: connection, remaining, console)
                        } catch {
                            guard reconnection.reconnect, Self.isAway(error) else { throw error }
                        }
                        // The stream broke with its connection, which is being made again.
                        guard await returns.first(where: { _ in true }) != nil else {
                            throw CommandFailure("connectionLost", "the connection to \(call.url) has ended")
                        }
                    }
                }
                if let count, remaining.value > 0 {
                    try Task.checkCancellation()
                    throw CommandFailure("endOfStream", "\(remaining.value) of \(count) items did not come")
                }
            }
        }
    }

    /// Whether an error says that the connection is gone and may come back.
    private static func isAway(_ error: any Error) -> Bool {
        guard let error = error as? SignalRError else { return false }
        return [.connectionLost, .serverTimeout, .closedByServer, .refused, .reconnecting].contains(error.code)
    }
}

extension HubCallOptions {
    /// Prints items until the stream's end or the count is at 0.
    fileprivate func printItems(
        of connection: HubConnection, _ remaining: Counter, _ console: Console
    ) async throws {
        let items = try await connection.stream(method, arguments: arguments.map(\.value), of: HubValue.self)
        for try await item in items {
            await console.emit(.hub(.item(method: method, item)))
            if remaining.decrement() == 0 { return }
        }
    }
}
