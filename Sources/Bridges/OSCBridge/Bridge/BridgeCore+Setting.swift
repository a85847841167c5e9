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
            guard service.device != nil else { throw ElementalError(.notConnected, "the service is not connected") }
            let value = try element.definition.value(oscArguments: arguments)
            surfaces.note(.set, of: surface)
            surfaces.noteMotion(of: service.motionKey(position), to: value, by: surface)
            guard service.inbound.add(value, of: element.definition) else {
                return tellOnce("dropped in", position, service) { .dropped($0, element.definition, .toDevice) }
            }
            send(service)
        } catch {
            refuse(error, position, service)
            // What the element is, and not what the surface shows.
            answer(surface, position, service)
        }
    }

    func refuse(_ reason: any Error, _ position: Int, _ service: BridgedService) {
        let element = service.elements[position].definition
        tellOnce("\(reason)", position, service) { .notPassed($0, element, .toDevice, reason) }
    }

    /// How long values for a service wait that had no room for them.
    private static let retryTime = TimeAmount.milliseconds(2)

    /// Sends a service what waits for it, as far as there is room.
    private func send(_ service: BridgedService) {
        guard !service.isRetrying, let device = service.device else { return }
        while case .send(let element, let value) = service.inbound.next(at: .now) {
            guard let position = service.position(of: element) else { continue }
            do throws(ElementalError) {
                try device.send(value, to: element)
            } catch {
                guard error.code == .queueFull else {
                    refuse(error, position, service)
                    continue
                }
                service.inbound.putBack(value, of: element)
                service.isRetrying = true
                loop.assumeIsolated().scheduleTask(in: Self.retryTime) { [weak self] in
                    service.isRetrying = false
                    self?.send(service)
                }
                return
            }
            service.sent.add(value, of: element)
            emit(.toDevice(service.place(position), element, value))
        }
        service.sent.confirm(by: device)
    }
}
