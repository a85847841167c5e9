import Elemental
internal import ElementalFollowing
internal import ElementalWire
import MQTT
internal import NIOCore

// Values between services and the broker.
extension BridgeCore {
    /// Half of the client's maximum backlog. A larger value might wait forever for room.
    private static let longestPayload = 4 << 20

    /// Stores a value as the element's newest one and passes it to the broker.
    func show(_ value: ElementValue, at position: Int, _ service: BridgedService) {
        service[position].newest = value
        let element = service.elements[position]
        guard element.reads else { return }
        if element.definition.type == .data { notePicture(value, at: position, service) }
        pass(value, of: element, service)
    }

    /// Publishes the element's value again.
    func showAgain(_ position: Int, _ service: BridgedService) {
        guard let newest = service[position].newest, service.elements[position].reads else { return }
        let element = service.elements[position]
        service.own.echoes.forget(element.definition)
        service.outbound.open(element.definition)
        pass(newest, of: element, service)
    }

    private func pass(_ value: ElementValue, of element: MQTTElement, _ service: BridgedService) {
        // The bridge publishes everything when the broker is back.
        if isConnected { _ = rounds.add(value, of: element.definition, service) }
    }

    func deliver(_ value: ElementValue, _ position: Int, _ service: BridgedService) {
        let definition = service.elements[position].definition
        guard service.own.echoes.isNews(value, of: definition) else { return }
        let payload = value.payload(of: definition, isForHomeAssistant: options.discovery == .homeAssistant)
        guard payload.readableBytes <= Self.longestPayload else {
            let reason = "a value of \(payload.readableBytes) bytes is too large: the maximum is \(Self.longestPayload)"
            return tell(.notPassed(MQTTError(.messageTooLarge, reason)), definition, service)
        }
        let key = ElementKey(service: service.key, id: definition.id)
        guard !oversized.isTooLarge(payload.readableBytes, of: key) else { return }
        if publish(payload, to: service.elements[position].valueTopic) {
            oversized.note(payload.readableBytes, of: key, at: .now)
            tell(.passed(value), definition, service)
        } else {
            // It stays in its lane, unless a newer one replaces it.
            service.own.echoes.forget(definition)
            service.outbound.putBack(value, of: definition)
            tell(.dropped, definition, service)
            isFull = true
        }
    }

    /// Publishes a message. While the broker accepts no more, the newest one per topic waits.
    ///
    /// - Returns: whether there was room for it.
    @discardableResult
    func publish(_ payload: ByteBuffer, to topic: MQTTTopic, isRetained: Bool = true) -> Bool {
        guard isConnected else { return true }
        do throws(MQTTError) {
            try client.publishNewest(
                payload, to: topic, qos: isRetained ? .atLeastOnce : .atMostOnce, retain: isRetained)
            return true
        } catch {
            // After a lost connection all values are published again, so only a full queue keeps this one waiting.
            return error.code != .queueFull
        }
    }

    // MARK: - Commands of the broker's clients

    func take(_ command: Command, _ message: MQTTMessage, _ position: Int, _ service: BridgedService) {
        let element = service.elements[position]
        // The broker repeats a command if it has not received the acknowledgement.
        if message.qos == .atLeastOnce {
            // Stores only the hash, because the payload would retain the whole buffer in which it was received.
            let hash = command.hashValue
            if message.isDuplicate, service[position].lastCommand == hash { return }
            service[position].lastCommand = hash
        }
        do throws(ElementalError) {
            // A retained command would be executed again at each reconnection.
            if message.isRetained {
                throw ElementalError(.notAllowed, "a retained command is ignored: publish it without the retain flag")
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

    /// Answers a command that was not carried out with the reason, and publishes the element's current value.
    func refuse(_ reason: any Error, _ position: Int, _ service: BridgedService) {
        let element = service.elements[position]
        tell(.notPassed(reason), element.definition, isForService: true, service)
        publish(ByteBuffer(string: "\(reason)"), to: element.refusedTopic, isRetained: false)
        showAgain(position, service)
    }

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
