internal import Bridging
import Elemental
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
        do throws(Command.Refusal) {
            // Someone published it as retained: it would be carried out at each reconnection.
            if message.isRetained { throw Command.Refusal("a retained command is old, and is not carried out") }
            let current = service[position].sent?.value ?? service[position].newest
            guard element.writes else { throw Command.Refusal("it can only be read") }
            guard let device = service.device, service.isOnline == true else {
                throw Command.Refusal("the service is not connected")
            }
            let value = try command.value(of: element.definition, current: current)
            do throws(ElementalError) {
                try device.send(value, to: element.definition)
            } catch {
                if error.code == .queueFull { emit(.dropped(service.event, element.definition, .toDevice)) }
                throw Command.Refusal(error.message)
            }
            emit(.toDevice(service.event, element.definition, value))
            service.noteSent(value, at: position)
            confirm(service, device)
        } catch {
            refuse(error.reason, position, service)
        }
    }

    /// Answers a command that was not carried out: with the reason, and with the value that the element has.
    private func refuse(_ reason: String, _ position: Int, _ service: BridgedService) {
        let element = service.elements[position]
        emit(.notPassed(service.event, element.definition, .toDevice, reason: reason))
        publish(ByteBuffer(string: reason), to: element.refusedTopic, isRetained: false)
        showAgain(position, service)
    }

    /// The service did not take a value. What the element's value is follows.
    func take(_ refusal: ValueRefusal, of definition: ElementDefinition, _ service: BridgedService) {
        guard let position = service.position(of: definition) else { return }
        service[position].sent = nil
        refuse(refusal.description, position, service)
    }

    /// Waits until the service has handled what it was sent, which is shown then: a service need not say it again.
    private func confirm(_ service: BridgedService, _ device: ElementalDevice) {
        guard !service.isConfirming else { return }
        let sent = service.unanswered
        guard !sent.isEmpty else { return }
        service.isConfirming = true
        let handling = Handling(sent.map { (service.elements[$0.key].definition, $0.value.value) })
        let numbers = sent.mapValues(\.number)
        let bound = NIOLoopBound((self, service), eventLoop: loop)
        let loop = loop
        Task {
            let failure = await handling.wait(for: device)
            await loop.run {
                let (core, service) = bound.value
                core.confirmed(numbers, failure, service, device)
            }
        }
    }

    private func confirmed(
        _ numbers: [Int: UInt64], _ failure: String?, _ service: BridgedService, _ device: ElementalDevice
    ) {
        service.isConfirming = false
        // The elements may be others since the connection was made anew.
        guard service.device == device else {
            if let device = service.device { confirm(service, device) }
            return
        }
        for (position, number) in numbers {
            guard position < service.elements.count, let sent = service[position].sent, sent.number == number else {
                continue
            }
            service[position].sent = nil
            if let failure {
                refuse("the service did not confirm it: \(failure)", position, service)
            } else {
                service.lanes.open(service.elements[position].definition)
                show(sent.value, at: position, service)
            }
        }
        confirm(service, device)
    }
}
