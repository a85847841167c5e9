import ArgumentParser
import ChatRoom
import Elemental
import Foundation
import SampleSecurity
import SignalR

@main
struct ChatClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ChatClient",
        abstract: "Chats in a room of a SignalR hub.",
        usage: """
            ChatClient http://127.0.0.1:5000/chat --name Ada
            ChatClient http://127.0.0.1:5000/chat --device commodore --name Commodore
            ChatClient https://hub.example/chat --name Ada --event NewMessage --token @token.txt
            """,
        discussion: """
            What is typed is said, a line at a time. While the connection is lost the line that is being typed stays, and RETURN \
            does nothing. Lines of standard input that is no terminal are said when the connection is back.
            With --device a device of Elemental takes part in your place: what is typed on the Commodore at its gateway is said, \
            and what others say is printed on its screen.
            """)

    @Argument(help: "The hub's address.")
    var url: String

    @Option(help: "The name that others see, at most 32 characters.")
    var name: String

    @Option(help: "The room's name.")
    var room = "lobby"

    @Option(
        help: ArgumentHelp(
            "An access token, or @FILE, which other users do not see.", valueName: "token"))
    var token: String?

    @Option(help: ArgumentHelp("A header of every request; may be given several times.", valueName: "name=value"))
    var header: [String] = []

    @Flag(help: "MessagePack in place of JSON.")
    var messagePack = false

    @Option(help: "What a hub calls that keeps no lines, with a name and a text.")
    var event = "ReceiveMessage"

    @Option(
        help: ArgumentHelp(
            "SERVICE[/NAME] or HOST:PORT, with the elements 'line' and 'print'.", valueName: "target"))
    var device: String?

    @Flag(help: "Events as JSON, a line each.")
    var json = false

    @OptionGroup var security: ConnectingOptions

    func validate() throws {
        guard !name.isEmpty, name.count <= 32 else { throw ValidationError("--name has 1 to 32 characters") }
        _ = try headers
    }

    private var headers: [String: String] {
        get throws {
            try Dictionary(
                header.map { text in
                    guard let sign = text.firstIndex(of: "=") else {
                        throw ValidationError("--header takes NAME=VALUE")
                    }
                    return (String(text[..<sign]), String(text[text.index(after: sign)...]))
                }
            ) { $1 }
        }
    }

    func run() async throws {
        var builder = HubConnectionBuilder(url: url)
            .withAutoReconnect(.exponential())
            .withHubProtocol(messagePack ? .messagePack : .json)
            .withHeaders(try headers)
        if let token {
            let secret =
                token.hasPrefix("@")
                ? try String(contentsOfFile: String(token.dropFirst()), encoding: .utf8)
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                : token
            builder = builder.withAccessToken { secret }
        }
        let connection = builder.build()
        try await untilInterrupted { [self, connect = try security.connectOptions] in
            if let device {
                try await DeviceGuest(device, connect: connect).chat(over: connection, in: self)
            } else {
                try await Person(self).chat(over: connection, in: self)
            }
        }
    }
}
