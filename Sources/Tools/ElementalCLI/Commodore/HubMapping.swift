import CommodoreGateway
import SignalR

/// `ADDRESS=URL` from the command line: the address that a program connects to, and the hub that it reaches instead.
struct HubMapping: Sendable {
    let address: String
    let url: String

    /// Parses a mapping. The address ends at the first `=` that a hub's URL follows.
    init(parsing text: String) throws(ArgumentProblem) {
        let schemes = ["ws://", "wss://", "http://", "https://"]
        let sign = text.indices.first { index in
            text[index] == "=" && schemes.contains { text[text.index(after: index)...].hasPrefix($0) }
        }
        guard let sign else {
            throw ArgumentProblem(
                "write it as ADDRESS=URL, as in ws://192.168.86.250:5000/chat=ws://127.0.0.1:5000/chat")
        }
        address = String(text[..<sign])
        guard ProgramAddress.isHub(address) else {
            throw ArgumentProblem(
                "ADDRESS is the one a program asks for: ws:// or wss://, a host, optionally a port, and a path")
        }
        url = String(text[text.index(after: sign)...])
        do {
            try HubConnection.check(url: url)
        } catch {
            throw ArgumentProblem("\(error.message); write it as ADDRESS=URL")
        }
    }
}
