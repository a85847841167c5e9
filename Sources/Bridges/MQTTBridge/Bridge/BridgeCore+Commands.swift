import Elemental
internal import ElementalFollowing
internal import ElementalWire
import MQTT
internal import NIOCore

// What the broker's clients want of services.
extension BridgeCore {
    /// Sends a service what a command says.
    func take(_ command: Command, _ message: MQTTMessage, _ position: Int, _ service: BridgedService) {
        let element = service.elements[position]
        // Sent again by the broker, which has not heard that it was taken.
        if message.qos == .atLeastOnce {
            // Its hash, because the payload would keep the memory of everything that came with it.
            let hash = command.hashValue
            if message.isDuplicate, service[position].lastCommand == hash { return }
            service[position].lastCommand = hash
        }
        do throws(ElementalError) {
            // Someone published it as retained: it would be carried out at each reconnection.
            if message.isRetained {
                throw ElementalError(.notAllowed, "a retained command is old, and is not carried out")
            }
            let current = service.sent[element.definition] ?? service[position].newest
            guard element.writes else { throw ElementalError(.notAllowed, "it can only be read") }
            guard let device = service.device, service.own.isOnline == true else {
                throw ElementalError(.notConnected, "the service is not connected")
            }
            let value = try command.value(of: element.definition, current: current)
            guard service.sent.send(value, of: element.definition, by: device) else {
                tell(.dropped, element.definition, isForService: true, service)
                throw ElementalError(.queueFull, "too many values wait for the service")
            }
        } catch {
            refuse(error, position, service)
        }
    }

    /// Answers a command that was not carried out: with the reason, and with the value that the element has.
    func refuse(_ reason: any Error, _ position: Int, _ service: BridgedService) {
        let element = service.elements[position]
        tell(.notPassed(reason), element.definition, isForService: true, service)
        publish(ByteBuffer(string: "\(reason)"), to: element.refusedTopic, isRetained: false)
        showAgain(position, service)
    }

    /// The service did not take a value. What the element's value is follows.
    func take(_ refusal: ValueRefusal, of definition: ElementDefinition, _ service: BridgedService) {
        guard let position = service.position(of: definition) else { return }
        service.sent.answered(definition)
        refuse(refusal, position, service)
    }

    /// What became of a value that a command set.
    func take(_ outcome: SentValues.Outcome, of definition: ElementDefinition, _ service: BridgedService) {
        guard let position = service.position(of: definition) else { return }
        switch outcome {
        case .sent(let value): tell(.passed(value), definition, isForService: true, service)
        case .handled(let value):
            service.outbound.open(definition)
            show(value, at: position, service)
        case .failed(let error): refuse(error, position, service)
        }
    }
}
