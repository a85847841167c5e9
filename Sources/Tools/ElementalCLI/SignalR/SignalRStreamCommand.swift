import ArgumentParser
import SignalR

struct SignalRStreamCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "stream",
        abstract: "Call a hub's method that answers with a stream, and print its items as JSON.",
        discussion: """
            Prints a line for each item as it arrives. It ends with the stream, on Ctrl-C, after --count items and after \
            --for, and then cancels the stream. With --reconnect it calls the method again after a lost connection.

              $ elemental signalr stream http://localhost:5000/chat Counter 10
              $ elemental signalr stream http://localhost:5000/chat Prices ACME \\
                  --count 3 --json | jq .item
            """)

    @OptionGroup var call: HubCallOptions

    @OptionGroup var amount: AmountOptions
    @OptionGroup var reconnection: HubReconnectOptions
    @OptionGroup var hub: HubOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        try await Interruption.run(console, amount.work) { [call, amount, reconnection, hub, output] in
            let remaining = amount.counter
            let connection = try await hub.connection(to: call.url, output, reconnects: reconnection.reconnect)
            try await HubClient.with(call.url, connection, console) { client in
                let (returns, hasReturned) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                let reporting = Task {
                    _ = await client.reportUntilClosed { hasReturned.yield() }
                    hasReturned.finish()
                }
                defer { reporting.cancel() }
                try await Interruption.limit(to: amount.time?.duration) {
                    while true {
                        do {
                            return try await call.printItems(of: connection, remaining, console)
                        } catch {
                            guard reconnection.reconnect, Self.isAway(error) else { throw error }
                        }
                        // The stream ended with its connection, which is being restored.
                        guard await returns.first(where: { _ in true }) != nil else {
                            throw CommandFailure("connectionLost", "the connection to \(call.url) has ended")
                        }
                    }
                }
                try amount.expectAll(remaining, of: "items", code: "endOfStream")
            }
        }
    }

    /// Whether an error means that the connection is lost and may return.
    private static func isAway(_ error: any Error) -> Bool {
        guard let error = error as? SignalRError else { return false }
        return [.connectionLost, .serverTimeout, .closedByServer, .refused, .reconnecting].contains(error.code)
    }
}

extension HubCallOptions {
    fileprivate func printItems(
        of connection: HubConnection, _ remaining: Countdown, _ console: Console
    ) async throws {
        let items = try await connection.stream(method, arguments: arguments.map(\.value), of: HubValue.self)
        for try await item in items {
            await console.emit(HubMessageEvent(method: method, content: .item(item)))
            if remaining.decrement() == 0 { return }
        }
    }
}
