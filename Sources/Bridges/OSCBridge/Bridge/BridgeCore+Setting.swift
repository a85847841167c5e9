import Elemental
internal import NIOCore
internal import OSC
internal import Support

// Values for services.
extension BridgeCore {
    /// A surface sets an element, or asks for its value.
    func set(_ position: Int, of service: BridgedService, _ arguments: [OSCArgument], from surface: Surface) {
        let element = service.elements[position]
        guard !arguments.isEmpty else { return answer(surface, position, service) }
        do throws(ElementalError) {
            guard options.setsElements else {
                throw ElementalError(.notAllowed, "this bridge only shows; --control lets surfaces set")
            }
            guard element.writes else { throw ElementalError(.notAllowed, "it can only be read") }
            guard let device = service.device else {
                throw ElementalError(.notConnected, "the service is not connected")
            }
            let value = try element.definition.value(oscArguments: arguments)
            surfaces.note(.set, of: surface)
            surfaces.noteMotion(of: service.motionKey(position), to: value, by: surface)
            if !service.sent.send(value, of: element.definition, by: device) {
                tellOnce(.dropped, "dropped in", position, isForService: true, service)
            }
        } catch {
            refuse(error, position, service)
            // What the element is, and not what the surface shows.
            answer(surface, position, service)
        }
    }

    func refuse(_ reason: any Error, _ position: Int, _ service: BridgedService) {
        tellOnce(.notPassed(reason), "\(reason)", position, isForService: true, service)
    }
}
