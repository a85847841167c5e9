import Logging
import Support
import Synchronization
import Testing

/// The library's log entries, as a program's log handler gets them.
struct PrintableLogTests {
    private final class Records: Sendable {
        let events = Mutex<[LogEvent]>([])
    }

    private struct Recorder: LogHandler {
        let records: Records
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        init(_ records: Records) { self.records = records }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { records.events.withLock { $0.append(event) } }
    }

    private struct Name: CustomStringConvertible, Sendable {
        let description: String
    }

    @Test
    func messagesAndMetadataAreEscapedHoweverDeep() throws {
        let records = Records()
        let logger = Logger(label: "test") { _ in Recorder(records) }.printable
        logger.info(
            "a\n\u{1B}[2Jb",
            metadata: [
                "text": "x\ny", "any": .stringConvertible(Name(description: "\u{202E}z")),
                "list": ["\u{7F}", ["key\n": "v\u{2028}"]],
            ])
        let event = try #require(records.events.withLock { $0.first })
        #expect(event.message == #"a\n\u{1B}[2Jb"#)
        #expect(event.metadata?["text"] == #"x\ny"#)
        #expect(event.metadata?["any"] == #"\u{202E}z"#)
        #expect(event.metadata?["list"] == [#"\u{7F}"#, [#"key\n"#: #"v\u{2028}"#]])
    }

    @Test
    func theLoggerIsOtherwiseTheProgramsOwn() {
        let records = Records()
        var logger = Logger(label: "test") { _ in Recorder(records) }.printable.printable
        #expect(logger.label == "test")
        logger.logLevel = .error
        logger[metadataKey: "a"] = "b"
        #expect((logger.logLevel, logger[metadataKey: "a"]) == (.error, "b"))
        logger.debug("not wanted")
        logger.error("wanted")
        #expect(records.events.withLock { $0.map(\.message) } == ["wanted"])
    }
}
