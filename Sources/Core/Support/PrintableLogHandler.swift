package import Logging

extension Logger {
    /// The same logger with text from outside escaped: no name or reason from a peer can move a terminal's cursor or
    /// add a line to the log, whichever handler the program uses.
    package var printable: Logger {
        guard !(handler is PrintableLogHandler) else { return self }
        var logger = self
        logger.handler = PrintableLogHandler(handler)
        return logger
    }
}

/// Forwards messages to the program's handler with their texts escaped.
struct PrintableLogHandler: LogHandler {
    private var handler: any LogHandler

    init(_ handler: any LogHandler) { self.handler = handler }

    func log(event: LogEvent) {
        var event = event
        event.message = "\(event.message.description.printable)"
        event.metadata = event.metadata.map(Self.printable)
        handler.log(event: event)
    }

    private static func printable(_ metadata: Logger.Metadata) -> Logger.Metadata {
        Dictionary(metadata.map { ($0.key.printable, printable($0.value)) }) { first, _ in first }
    }

    private static func printable(_ value: Logger.MetadataValue) -> Logger.MetadataValue {
        switch value {
        case .string(let text): .string(text.printable)
        case .stringConvertible(let value): .string(value.description.printable)
        case .array(let values): .array(values.map(printable))
        case .dictionary(let metadata): .dictionary(printable(metadata))
        }
    }

    // The other requirements forward to the program's handler.

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { handler.metadataProvider }
        set { handler.metadataProvider = newValue }
    }

    var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }
}
