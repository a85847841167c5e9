import Elemental
import NIOCore
import PETSCII

/// What the addresses lead to that programs connect to. A new kind of session has its place here.
struct Addresses {
    /// The characters of programs that speak in elements.
    let characterSet: CommodoreCharacterSet
    /// The elements of a program that sends no catalogue.
    let standardElements: [ElementDefinition]

    /// The hubs that programs reach, by the addresses that they ask for.
    var hubs: [String: String] = [:]
    /// How long the program may be silent before the gateway pings its hub.
    var hubPingInterval = TimeAmount.seconds(15)
    /// Where connections to hubs live.
    var eventLoop: (any EventLoop)?

    func session(for address: ProgramAddress, host: any ProgramHost) -> any ProgramSession {
        switch address {
        case .webSocket(let text):
            if let url = hubs[text], let eventLoop {
                HubRelaySession(url: url, pingInterval: hubPingInterval, eventLoop: eventLoop, host: host)
            } else {
                // The chat program's address is fixed in it: whatever it is, the gateway itself is its hub.
                ChatSession(host: host)
            }
        case .elemental(let name):
            NativeSession(name: name, characterSet: characterSet, standard: standardElements, host: host)
        }
    }
}
