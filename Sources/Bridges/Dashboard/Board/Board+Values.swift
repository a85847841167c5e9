internal import ElementalFollowing
import NIOCore
import Support
internal import WebServer

/// The messages that pages receive with each tick.
extension Board {
    /// IDs of elements, by their services' numbers.
    typealias Due = [UInt32: Set<Int8>]

    /// Changes values of a service. Pages receive them with the next tick.
    func change(_ service: BoardService, _ body: (BoardService) -> Void) {
        let isFirst = service.changed.isEmpty
        body(service)
        guard isFirst, !service.changed.isEmpty else { return }
        changed[service.number] = service
        ticks.ask()
    }

    func tick() {
        let isListed = viewers.values.contains { $0.isListing }
        var changes: Due = [:]
        for (number, service) in changed {
            if isListed { note(service.summaryIDs.intersection(service.changed), of: number) }
            changes[number] = service.changed
            service.changed = []
        }
        changed = [:]
        // Pages that show the same services and lack nothing else share one message.
        var shared: [Set<UInt32>: (message: EncodedFrame?, left: Due)] = [:]
        for viewer in viewers.values {
            if let numbers = viewer.asked.take() { open(numbers, for: viewer) }
            guard viewer.hasEverything, viewer.socket.isWritable else {
                viewer.due.merge(changes.filter { viewer.shown.contains($0.key) }) { $0.union($1) }
                catchUp(viewer)
                continue
            }
            let (message, left) =
                shared[viewer.shown] ?? compose(changes.filter { viewer.shown.contains($0.key) })
            shared[viewer.shown] = (message, left)
            if let message { viewer.socket.send(message) }
            viewer.due = left
            catchUp(viewer)
        }
    }

    /// Shows a page the services that it asks for. A newly shown service is sent completely.
    private func open(_ numbers: Set<UInt32>, for viewer: Viewer) {
        for number in viewer.shown.subtracting(numbers).union(viewer.closed) { viewer.forget(number) }
        viewer.closed = []
        for number in numbers.subtracting(viewer.shown) {
            guard let service = services[number] else { continue }
            viewer.shown.insert(number)
            viewer.dueCatalogues.insert(number)
            viewer.due[number] = service.ids
        }
    }

    /// Sends a page what it still lacks, as far as there is room.
    func catchUp(_ viewer: Viewer) {
        let socket = viewer.socket
        if viewer.lacksSummary, socket.isWritable {
            viewer.lacksSummary = false
            for frame in tellingFrames(services.mapValues(\.summaryIDs)) { socket.send(frame) }
        }
        for number in viewer.dueCatalogues.sorted() {
            guard socket.isWritable else { return }
            viewer.dueCatalogues.remove(number)
            if let catalogue = services[number]?.catalogueMessage(policy) { socket.send(catalogue) }
        }
        while !viewer.due.isEmpty, socket.isWritable {
            let (message, left) = compose(viewer.due)
            viewer.due = left
            if let message { socket.send(message) } else { return sendData(to: viewer) }
        }
    }

    /// Composes a message of as many of the elements' values as fit. What is left are the other values and all data.
    private func compose(_ due: Due) -> (EncodedFrame?, left: Due) {
        var message = ValuesMessage(.values)
        var left: Due = [:]
        for (number, ids) in due {
            guard let service = services[number] else { continue }
            for id in ids {
                if !message.isFull, case .text(let text) = service.content(of: id) {
                    message.add(text, of: id, number, age: service.age(of: id))
                } else {
                    left[number, default: []].insert(id)
                }
            }
        }
        return (message.finish(), left)
    }

    /// Sends a page the data that it still lacks, each in a message of its own.
    private func sendData(to viewer: Viewer) {
        for (number, ids) in viewer.due {
            for id in ids {
                guard viewer.socket.isWritable else { return }
                if case .data(let frame)? = services[number]?.content(of: id) { viewer.socket.send(frame) }
                viewer.due[number]?.remove(id)
            }
            viewer.due[number] = nil
        }
    }

    // MARK: - The list

    private func note(_ summary: Set<Int8>, of number: UInt32) {
        guard !summary.isEmpty else { return }
        summaryDue[number, default: []].formUnion(summary)
        summaryTask.ask()
    }

    /// Sends the changed summary values to the pages that show the list, the same message to all that have room for it.
    func tellChanges() {
        let frames = tellingFrames(summaryDue)
        summaryDue = [:]
        for viewer in viewers.values where viewer.isListing && !viewer.lacksSummary {
            // A page without room gets all summary values once it has room.
            guard viewer.socket.isWritable else {
                viewer.lacksSummary = true
                continue
            }
            for frame in frames { viewer.socket.send(frame) }
        }
    }

    private func tellingFrames(_ due: Due) -> [EncodedFrame] {
        var message = ValuesMessage(.summary)
        var frames: [EncodedFrame] = []
        for (number, ids) in due.sorted(by: { $0.key < $1.key }) {
            guard let service = services[number] else { continue }
            for id in ids { message.add(service.tellingText(of: id), of: id, number) }
            if message.isFull { message.finish().map { frames.append($0) } }
        }
        message.finish().map { frames.append($0) }
        return frames
    }

    /// Sends pages the connection quality of the services that they show.
    func tellQuality() {
        let now = ContinuousClock.now
        let shown = viewers.values.reduce(into: Set<UInt32>()) { $0.formUnion($1.shown) }
        let qualities = shown.sorted().compactMap { number in
            services[number].map { (number, $0.quality(now)) }
        }
        var shared: [Set<UInt32>: EncodedFrame] = [:]
        for viewer in viewers.values where !viewer.shown.isEmpty && viewer.socket.isWritable {
            let message =
                shared[viewer.shown]
                ?? PageMessage.quality(qualities.filter { viewer.shown.contains($0.0) })
            shared[viewer.shown] = message
            viewer.socket.send(message)
        }
    }
}
