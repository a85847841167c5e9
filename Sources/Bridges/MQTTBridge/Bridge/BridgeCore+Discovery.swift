internal import Bridging
import Elemental
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
    /// one does not is removed.
    func announce(_ service: BridgedService) {
        guard isConnected, service.catalogue != nil else { return }
        service.announcement += 1
        let announcement = service.announcement
        let filters = service.isSubscribed ? [] : self.filters(of: service)
        service.isSubscribed = true
        removeStale(of: service)
        let isShown = options.discovery == .homeAssistant
        guard isShown || !filters.isEmpty else { return }
        let bound = NIOLoopBound((self, service), eventLoop: loop)
        let (loop, client) = (loop, client)
        Task {
            if !filters.isEmpty, let problem = await BridgeCore.subscribe(client, to: filters) {
                return await loop.run {
                    let (core, service) = bound.value
                    core.notSubscribed(problem, service)
                }
            }
            guard isShown else { return }
            // What it retains comes right after the answer. If it is later, what was told is removed then.
            await Delay.wait(BridgeCore.retainedTime, on: loop)
            let draft = await loop.run {
                let (core, service) = bound.value
                return core.draft(of: service, announcement)
            }
            guard let draft, let made = await BridgeCore.publishRemovals(of: draft, client) else { return }
            await loop.run {
                let (core, service) = bound.value
                core.announced(made, announcement, service)
            }
        }
    }

    private func notSubscribed(_ problem: String, _ service: BridgedService) {
        service.isSubscribed = false
        if isConnected { emit(.notShown(service.event, reason: problem)) }
    }

    /// What is to be told, unless another announcement has begun.
    private func draft(of service: BridgedService, _ announcement: UInt64) -> DiscoveryDraft? {
        guard isConnected, service.announcement == announcement else { return nil }
        return service.draft(bridge: topics.bridge.name, options)
    }

    /// A message that was put together.
    private struct Made: Sendable {
        let message: DiscoveryMessage
        let payload: ByteBuffer
        let problems: [String]
        /// What was told before.
        let earlier: RetainedDiscovery
    }

    /// Puts the message together, away from the event loop, and publishes one before it that removes what is not in it.
    ///
    /// - Returns: `nil` if the connection was lost.
    private static func publishRemovals(of draft: DiscoveryDraft, _ client: MQTTClient) async -> Made? {
        let (message, problems) = draft.message()
        let removals = draft.retained.removals(for: message.components)
        if !removals.isEmpty {
            do throws(MQTTError) {
                // Waits for the answer: both messages are for the same topic, of which the newest would be left.
                try await client.publish(
                    message.payload(removing: removals), to: draft.topics.config, qos: .atLeastOnce, retain: true)
            } catch {
                return nil
            }
        }
        return Made(message: message, payload: message.payload(), problems: problems, earlier: draft.retained)
    }

    private func announced(_ made: Made, _ announcement: UInt64, _ service: BridgedService) {
        guard isConnected, service.announcement == announcement else { return }
        for problem in made.problems { emit(.notShown(service.event, reason: problem)) }
        service.published = made.payload
        let present = Set(service.elements.map(\.valueTopic.name))
        for (_, topic) in made.earlier.valueTopics where service.topics.isValue(topic) && !present.contains(topic) {
            service.stale.insert(topic)
        }
        removeStale(of: service)
        service.retained = RetainedDiscovery(made.message)
        guard publish(made.payload, to: service.topics.config) else {
            return emit(.notShown(service.event, reason: "too much is waiting for the broker; it is told later"))
        }
    }

    /// Empties the topics of elements that are no more.
    private func removeStale(of service: BridgedService) {
        for name in service.stale {
            guard let topic = try? MQTTTopic(name) else { continue }
            publish(ByteBuffer(), to: topic)
        }
        service.stale = []
    }

    /// The first picture of an element decides that it is shown as one.
    func notePicture(_ value: ElementValue, at position: Int, _ service: BridgedService) {
        guard let type = PictureType.of(value), service[position].pictureType != type else { return }
        service[position].pictureType = type
        if options.discovery == .homeAssistant { announce(service) }
    }

    /// Takes what someone has told of a service, perhaps this bridge itself.
    func takeConfiguration(_ message: MQTTMessage, _ service: BridgedService) {
        let (payload, isRetained) = (message.payload, message.isRetained)
        guard payload != service.published, payload.readableBytes > 0 else { return }
        let bound = NIOLoopBound((self, service), eventLoop: loop)
        let loop = loop
        Task {
            let found = RetainedDiscovery(payload)
            await loop.run {
                let (core, service) = bound.value
                core.takeConfiguration(found, isRetained: isRetained, service)
            }
        }
    }

    private func takeConfiguration(_ found: RetainedDiscovery, isRetained: Bool, _ service: BridgedService) {
        service.others = Set(found.availability)
        service.others.subtract([topics.bridge.name, service.topics.availability.name])
        // A bridge that has gone meanwhile would leave the service unavailable.
        if !isRetained, service.published != nil, !service.others.isDisjoint(with: goneBridges) { announce(service) }
        // Another bridge tells of the service as it is: only what is left of an earlier time is removed.
        guard isRetained else { return }
        service.retained.merge(found)
        // It came too late.
        if service.published != nil { announce(service) }
    }

    /// Tells everything again, at a moment that differs from bridge to bridge.
    func tellAllSoon() {
        let delay = TimeAmount.nanoseconds(Int64.random(in: 0...Self.birthTime.nanoseconds))
        loop.assumeIsolated().scheduleTask(in: delay) { [weak self] in self?.tellAll() }
    }

    // MARK: - Subscriptions

    private func filters(of service: BridgedService) -> [String] {
        (options.setsElements ? service.topics.commands : [])
            + (options.discovery == .homeAssistant ? [service.topics.config.name] : [])
    }

    /// Asks for topics that are not those of a service.
    func subscribe(to filters: [String]) {
        let bound = NIOLoopBound(self, eventLoop: loop)
        let (loop, client) = (loop, client)
        Task {
            if await BridgeCore.subscribe(client, to: filters) == nil { return }
            await loop.run { bound.value.isSubscribed = false }
        }
    }

    /// - Returns: what went wrong; `nil` if nothing did.
    private static func subscribe(_ client: MQTTClient, to filters: [String]) async -> String? {
        do throws(MQTTError) {
            _ = try await client.subscribe(to: filters.map { ($0, .atLeastOnce) })
            return nil
        } catch {
            return error.message
        }
    }

    /// The service is gone.
    func unsubscribe(_ service: BridgedService) {
        guard service.isSubscribed else { return }
        let filters = self.filters(of: service)
        let client = client
        Task { try? await client.unsubscribe(from: filters) }
    }
}
