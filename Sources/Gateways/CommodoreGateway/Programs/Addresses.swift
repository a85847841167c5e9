import Elemental
import NIOCore
import PETSCII

/// Creates the sessions for the addresses that programs connect to. Add new kinds of session here.
struct Addresses {
    /// The character set of native programs.
    let characterSet: CommodoreCharacterSet
    /// The elements of a program that sends no catalogue.
    let standardElements: [ElementDefinition]
    /// The gateway's own elements.
    var ownElements: [any AnyElement] = CommodoreElements.own

    /// The real hubs, by the addresses that programs ask for.
    var hubs: [String: String] = [:]
    /// How long the program may be silent before the gateway pings its hub.
    var hubPingInterval = TimeAmount.seconds(15)
    /// The event loops of connections to hubs.
    var eventLoop: (any EventLoop)?

    func session(for address: ProgramAddress, host: any ProgramHost) -> any ProgramSession {
        switch address {
        case .webSocket(let text):
            if let url = hubs[text], let eventLoop {
                HubRelaySession(url: url, pingInterval: hubPingInterval, eventLoop: eventLoop, host: host)
            } else {
                // The chat program has a fixed address: whatever it is, the gateway itself is its hub.
                ChatSession(host: host)
            }
        case .elemental(let name):
            NativeSession(
                name: name, characterSet: characterSet, standard: standardElements, own: ownElements, host: host)
        }
    }
}
