import Elemental
import PETSCII

/// What the addresses lead to that programs connect to. A new kind of session has its place here.
struct Addresses {
    /// The characters of programs that speak in elements.
    let characterSet: CommodoreCharacterSet
    /// The elements of a program that says none.
    let standardElements: [ElementDefinition]

    func session(for address: ProgramAddress, host: any ProgramHost) -> any ProgramSession {
        switch address {
        // The chat program's address is fixed in it: whatever it is, the gateway itself is its hub.
        case .webSocket: ChatSession(host: host)
        case .elemental(let name):
            NativeSession(name: name, characterSet: characterSet, standard: standardElements, host: host)
        }
    }
}
