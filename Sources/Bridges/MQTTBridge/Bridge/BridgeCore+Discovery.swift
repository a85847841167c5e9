import Elemental
internal import ElementalFollowing
import MQTT
internal import NIOCore
internal import Support

// What Home Assistant is told of the services.
extension BridgeCore {
    /// How long a broker may take to send what it has retained under a topic that was subscribed to.
    private static let retainedTime = Duration.milliseconds(250)
    /// Home Assistant has just started, perhaps for many bridges: each tells everything within this time.
    private static let birthTime = Duration.seconds(3)

    /// Subscribes to the service's topics and publishes what it consists of; what an earlier message has told and this
    /// one does not is removed. One announcement of a service is under way at a time: what has changed meanwhile makes
    /// another one follow.
    func announce(_ service: BridgedService) {
        service.own.mustAnnounce = true
        guard !service.own.isAnnouncing else { return }
        service.own.isAnnouncing = true
        let bound = NIOLoopBound((core: self, service: service), eventLoop: loop)
        let (loop, client, isShown) = (loop, client, options.discovery == .homeAssistant)
        Task {
            while let filters = await loop.run({ bound.value.core.nextAnnouncement(of: bound.value.service) }) {
                // What can be published is published all the same.
                let problem = filters.isEmpty ? nil : await BridgeCore.subscribe(client, to: filters)
                await loop.run { bound.value.core.subscribed(bound.value.service, problem) }
                guard isShown else { continue }
                // What it retains comes right after the answer. If it is later, what was told is removed then.
                await Delay.wait(BridgeCore.retainedTime, on: loop)
                let draft = await loop.run {
                    bound.value.service.draft(bridge: bound.value.core.topics.bridge.name, bound.value.core.options)
                }
                let made = await BridgeCore.publishRemovals(of: draft, client)
                await loop.run { bound.value.core.announced(made, bound.value.service) }
            }
        }
    }

    /// The broker was asked for the service's topics.
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

    /// Puts the message together, away from the event loop, and publishes one before it that removes what is not in it.
    ///
    /// - Returns: `nil` if the broker did not take it.
    private static func publishRemovals(
        of draft: DiscoveryDraft, _ client: MQTTClient
    ) async -> (message: DiscoveryMessage, payload: ByteBuffer)? {
        let message = draft.message()
        let removals = draft.retained.removals(for: message)
        if !removals.isEmpty {
            do throws(MQTTError) {
                // Waits for the answer: both messages are for the same topic, of which the newest would be left.
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
            service.own.mustRepeat.insert(.announcement)
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
            service.own.mustRepeat.insert(.stale)
            repeatSoon()
        }
    }

    /// The first picture of an element decides that it is shown as one.
    func notePicture(_ value: ElementValue, at position: Int, _ service: BridgedService) {
        guard let type = value.pictureType, service[position].pictureType != type else { return }
        service[position].pictureType = type
        if options.discovery == .homeAssistant { announce(service) }
    }

    /// Takes what someone has told of a service, perhaps this bridge itself. It is read away from the event loop, one
    /// message of a service at a time, while the newest waits.
    func takeConfiguration(_ message: MQTTMessage, _ service: BridgedService) {
        guard message.payload != service.own.published,
            (1...RetainedDiscovery.longest).contains(message.payload.readableBytes)
        else { return }
        // A retained one, which comes once, is not replaced by one that is not.
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
        // A bridge that has gone meanwhile would leave the service unavailable.
        if !isRetained, service.own.published != nil, !service.own.others.isDisjoint(with: goneBridges) {
            announce(service)
        }
        // Another bridge tells of the service as it is: only what is left of an earlier time is removed.
        guard isRetained else { return }
        service.own.retained.merge(found)
        // It came too late.
        if service.own.published != nil { announce(service) }
    }

    /// Publishes everything again, at a moment that differs from bridge to bridge, however often that is asked for.
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

    /// Asks for topics that are not those of a service.
    func subscribe(to filters: [String]) {
        let bound = NIOLoopBound(self, eventLoop: loop)
        let (loop, client) = (loop, client)
        Task {
            let problem = await BridgeCore.subscribe(client, to: filters)
            await loop.run {
                // An answer to what was asked before would be lost.
                if let problem { bound.value.notSubscribed(problem) } else { bound.value.askForOthers() }
            }
        }
    }

    private func notSubscribed(_ problem: MQTTError) {
        isSubscribed = false
        if isConnected { emit(.brokerRefuses(problem)) }
    }

    /// The broker refuses subscriptions that it granted before the connection was lost. They are asked for again with the
    /// next connection.
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
