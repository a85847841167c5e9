import CommodoreGateway
import SignalR

/// An address that a program asks for and the hub that it gets, as they are typed: `ADDRESS=URL`.
struct HubMapping: Sendable {
    let address: String
    let url: String

    /// What is wrong with a spelling, in words.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads a mapping; the address ends before the first `=` that an address of a hub follows.
    init(parsing text: String) throws(Problem) {
        let schemes = ["ws://", "wss://", "http://", "https://"]
        let sign = text.indices.first { index in
            text[index] == "=" && schemes.contains { text[text.index(after: index)...].hasPrefix($0) }
        }
        guard let sign else {
            throw Problem(
                description: "write it as ADDRESS=URL, as in ws://192.168.86.250:5000/chat=ws://127.0.0.1:5000/chat")
        }
        address = String(text[..<sign])
        guard ProgramAddress.isHub(address) else {
            throw Problem(
                description: "ADDRESS is what a program asks for: ws:// or wss://, a host, perhaps a port, and a path")
        }
        url = String(text[text.index(after: sign)...])
        do {
            try HubConnection.check(url: url)
        } catch {
            throw Problem(description: "\(error.message); write it as ADDRESS=URL")
        }
    }
}
