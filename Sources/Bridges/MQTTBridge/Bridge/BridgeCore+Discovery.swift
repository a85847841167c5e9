import Elemental
internal import ElementalFollowing
import MQTT
internal import NIOCore
internal import Support

// Discovery: the description of the services for Home Assistant.
extension BridgeCore {
    /// How long a broker may take to send the retained messages of a new subscription.
    private static let retainedTime = Duration.milliseconds(250)
    /// The maximum random delay after Home Assistant has started, so that bridges do not republish all at once.
    private static let birthTime = Duration.seconds(3)

    /// Subscribes to the service's topics and publishes its description. Entities of an earlier message that are not in
    /// this one are removed. A service has one announcement in progress at a time; a change in the meantime causes
    /// another one.
    func announce(_ service: BridgedService) {
        service.own.mustAnnounce = true
        guard !service.own.isAnnouncing else { return }
        service.own.isAnnouncing = true
        let bound = NIOLoopBound((core: self, service: service), eventLoop: loop)
        let (loop, client, isShown) = (loop, client, options.discovery == .homeAssistant)
        Task {
            while let filters = await loop.run({ bound.value.core.nextAnnouncement(of: bound.value.service) }) {
                // Publishes what it can even if the subscription fails.
                let problem = filters.isEmpty ? nil : await BridgeCore.subscribe(client, to: filters)
                await loop.run { bound.value.core.subscribed(bound.value.service, problem) }
                guard isShown else { continue }
                // Retained messages come right after the answer. A later one causes another announcement, which removes
                // its entities.
                await Delay.wait(BridgeCore.retainedTime, on: loop)
                let draft = await loop.run {
                    bound.value.service.draft(bridge: bound.value.core.topics.bridge.name, bound.value.core.options)
                }
                let made = await BridgeCore.publishRemovals(of: draft, client)
                await loop.run { bound.value.core.announced(made, bound.value.service) }
            }
        }
    }

    /// Handles the broker's answer to the subscription to the service's topics.
    private func subscribed(_ service: BridgedService, _ problem: MQTTError?) {
        if problem != nil { service.own.isSubscribed = false }
        guard isConnected else { return }
        if let problem { emit(.notShown(service.key, problem)) }
        guard !service.own.takesCommands else { return }
        service.own.takesCommands = true
        publishAvailability(of: service)
    }

    /// - Returns: the topics to subscribe to; `nil` if there is nothing more to announce now.
    private func nextAnnouncement(of service: BridgedService) -> [String]? {
        guard isConnected, service.own.mustAnnounce, service.catalogue != nil, services[service.key] === service else {
            service.own.isAnnouncing = false
            return nil
        }
        service.own.mustAnnounce = false
        defer { service.own.isSubscribed = true }
        removeStale(of: service)
        return service.own.isSubscribed ? [] : filters(of: service)
    }

    /// Builds the message, away from the event loop, and first publishes one that removes the entities that are not in
    /// it.
    ///
    /// - Returns: `nil` if the broker did not accept it.
    private static func publishRemovals(
        of draft: DiscoveryDraft, _ client: MQTTClient
    ) async -> (message: DiscoveryMessage, payload: ByteBuffer)? {
        let message = draft.message()
        let removals = draft.retained.removals(for: message)
        if !removals.isEmpty {
            do throws(MQTTError) {
                // Waits for the answer: both messages have the same topic, and only the newest of a topic waits in the
                // queue.
                try await client.publish(
                    message.payload(removing: removals), to: draft.topics.config, qos: .atLeastOnce, retain: true)
            } catch {
                return nil
            }
        }
        return (message, message.payload())
    }

    private func announced(_ made: (message: DiscoveryMessage, payload: ByteBuffer)?, _ service: BridgedService) {
        guard isConnected else { return }
        guard let made, publish(made.payload, to: service.own.topics.config) else {
            service.own.unpublished.insert(.announcement)
            return repeatSoon()
        }
        for problem in made.message.problems { emit(.notShown(service.key, problem)) }
        service.own.published = made.payload
        service.own.others = []
        let present = Set(service.elements.map(\.valueTopic.name))
        for topic in made.message.draft.retained.valueTopics.values
        where service.own.topics.isValue(topic) && !present.contains(topic) {
            service.own.stale.insert(topic)
        }
        removeStale(of: service)
        service.own.retained = RetainedDiscovery(platforms: made.message.platforms)
    }

    func removeStale(of service: BridgedService) {
        guard isConnected else { return }
        for name in service.own.stale {
            guard let topic = try? MQTTTopic(name), !publish(ByteBuffer(), to: topic) else {
                service.own.stale.remove(name)
                continue
            }
            service.own.unpublished.insert(.stale)
            repeatSoon()
        }
    }

    /// Shows an element as a picture from its first picture on.
    func notePicture(_ value: ElementValue, at position: Int, _ service: BridgedService) {
        guard let type = value.pictureType, service[position].pictureType != type else { return }
        service[position].pictureType = type
        if options.discovery == .homeAssistant { announce(service) }
    }

    /// Handles a description of a service that any client has published, perhaps this bridge itself. It is decoded away
    /// from the event loop, one message per service at a time, while only the newest waits.
    func takeConfiguration(_ message: MQTTMessage, _ service: BridgedService) {
        guard message.payload != service.own.published,
            (1...RetainedDiscovery.longest).contains(message.payload.readableBytes)
        else { return }
        // A retained message comes only once, so a live one does not replace it.
        if service.own.unread?.isRetained == true, !message.isRetained { return }
        service.own.unread = message
        readConfiguration(of: service)
    }

    private func readConfiguration(of service: BridgedService) {
        guard !service.own.isReading, let message = service.own.unread else { return }
        service.own.unread = nil
        service.own.isReading = true
        let (payload, isRetained) = (message.payload, message.isRetained)
        let bound = NIOLoopBound((self, service), eventLoop: loop)
        let loop = loop
        Task {
            let found = RetainedDiscovery(payload)
            await loop.run {
                let (core, service) = bound.value
                service.own.isReading = false
                core.takeConfiguration(found, isRetained: isRetained, service)
                core.readConfiguration(of: service)
            }
        }
    }

    private func takeConfiguration(_ found: RetainedDiscovery, isRetained: Bool, _ service: BridgedService) {
        service.own.others = Set(found.availability)
        service.own.others.subtract([topics.bridge.name, service.own.topics.availability.name])
        // If that bridge is gone, Home Assistant would show the service as unavailable.
        if !isRetained, service.own.published != nil, !service.own.others.isDisjoint(with: goneBridges) {
            announce(service)
        }
        // A live message is another bridge's current description. Only retained ones may have stale entities to remove.
        guard isRetained else { return }
        service.own.retained.merge(found)
        // The retained message came after the announcement.
        if service.own.published != nil { announce(service) }
    }

    /// Publishes everything again once, after a random delay. Requests during the delay have no further effect.
    func tellAllSoon() {
        guard birth == nil else { return }
        let delay = TimeAmount.nanoseconds(Int64.random(in: 0...Self.birthTime.nanoseconds))
        birth = loop.assumeIsolated().scheduleTask(in: delay) { [weak self] in
            guard let self else { return }
            birth = nil
            tellAll()
        }
    }

    private func filters(of service: BridgedService) -> [String] {
        (options.setsElements ? service.own.topics.commands : [])
            + (options.discovery == .homeAssistant ? [service.own.topics.config.name] : [])
    }

    /// Subscribes to the topics that do not belong to one service.
    func subscribe(to filters: [String]) {
        let bound = NIOLoopBound(self, eventLoop: loop)
        let (loop, client) = (loop, client)
        Task {
            let problem = await BridgeCore.subscribe(client, to: filters)
            await loop.run {
                // Only now can the bridge receive the answer to this question.
                if let problem { bound.value.notSubscribed(problem) } else { bound.value.askForOthers() }
            }
        }
    }

    private func notSubscribed(_ problem: MQTTError) {
        isSubscribed = false
        if isConnected { emit(.brokerRefuses(problem)) }
    }

    /// The broker refuses subscriptions that it granted before the connection was lost. The bridge requests them again
    /// with the next connection.
    func subscriptionsRefused(_ refused: [String]) {
        let refused = Set(refused)
        if refused.contains(topics.allAvailability) || !refused.isDisjoint(with: topics.discovery.births) {
            isSubscribed = false
        }
        for service in services.values where !refused.isDisjoint(with: filters(of: service)) {
            service.own.isSubscribed = false
        }
        let some = refused.sorted().prefix(3).joined(separator: ", ")
        emit(
            .brokerRefuses(
                MQTTError(
                    .subscriptionRefused,
                    "the broker no longer lets this client subscribe to \(some)\(refused.count > 3 ? " and others" : "")"
                )))
    }

    private static func subscribe(_ client: MQTTClient, to filters: [String]) async -> MQTTError? {
        do throws(MQTTError) {
            _ = try await client.subscribe(to: filters.map { ($0, .atLeastOnce) })
            return nil
        } catch {
            return error
        }
    }

    func unsubscribe(_ service: BridgedService) {
        let filters = self.filters(of: service)
        guard isConnected, !filters.isEmpty else { return }
        let client = client
        Task { try? await client.unsubscribe(from: filters) }
    }
}
