internal import Elemental
internal import ElementalFollowing
import ElementalSecurity
import ElementalWire
import NIOCore
import Support
internal import WebServer

// Requests of pages to services.
extension Board {
    /// Why a page may not set an element, as text for the user.
    struct Refusal: Error {
        let reason: String
    }

    func set(
        _ number: UInt32, _ id: Int8, _ page: PageValue, rest: PageValue?, _ request: Int?, for viewer: Viewer
    ) {
        let place = ElementPlace(service: number, element: id)
        do throws(Refusal) {
            let element = try settable(place)
            let resting = try value(ofRest: rest, of: element)
            guard viewer.atRest[place] != nil || viewer.atRest.count < PageRequest.maximumMoveCount || resting == nil
            else { throw Refusal(reason: "the page holds too many elements; let go of some") }
            try send(try value(page, of: element), to: element, place, for: viewer, request)
            viewer.atRest[place] = resting
        } catch {
            viewer.socket.send(PageMessage.refused(number, id, error.reason, request: request))
        }
    }

    /// The element, if pages may set it now.
    func settable(_ place: ElementPlace) throws(Refusal) -> ElementDefinition {
        if let reason = policy.reason { throw Refusal(reason: reason) }
        guard let service = services[place.service], service.isConnected,
            let element = service.catalogue?[id: place.element]
        else { throw Refusal(reason: "the service is not connected") }
        guard element.access.contains(.write) else {
            throw Refusal(reason: service.canPair ? "pair with the service to set it" : "it can only be read")
        }
        return element
    }

    func value(_ page: PageValue, of element: ElementDefinition) throws(Refusal) -> ElementValue {
        do throws(WireError) {
            return try page.elementValue(of: element)
        } catch {
            throw Refusal(reason: error.message)
        }
    }

    /// Checks the range here: when a rest value is sent, the page may be gone and cannot receive a refusal.
    func value(ofRest page: PageValue?, of element: ElementDefinition) throws(Refusal) -> ElementValue? {
        guard let page else { return nil }
        let value = try value(page, of: element)
        guard element.allows(value) else { throw Refusal(reason: "the rest value is outside the element's range") }
        return value
    }

    /// Sends a value to the service, and shows it to all pages.
    func send(
        _ value: ElementValue, to element: ElementDefinition, _ place: ElementPlace, for viewer: Viewer, _ request: Int?
    ) throws(Refusal) {
        guard let service = services[place.service], let device = service.device, service.isConnected else {
            throw Refusal(reason: "the service is not connected")
        }
        do throws(ElementalError) {
            try device.send(value, to: element)
        } catch {
            throw Refusal(reason: error.message)
        }
        grips.repeats[place] = nil
        change(service) { $0.note(value, of: element, by: viewer.socket.id, request) }
    }

    /// Fills a plot with the values that the service keeps. The plot stays empty for an element without a plot or a
    /// history.
    func fill(_ number: UInt32, _ id: Int8, _ seconds: Int, for viewer: Viewer) {
        let place = ElementPlace(service: number, element: id)
        guard let service = services[number], service.isConnected, let device = service.device,
            let element = service.catalogue?[id: id], element.history != nil, element.plottedCount != nil
        else { return viewer.socket.send(PageMessage.past(place, .double, [])) }
        fills.ask(place, seconds, element, device, for: viewer)
    }

    func pair(_ number: UInt32, _ code: String, as name: String?, _ request: Int?, for viewer: Viewer) {
        func refuse(_ reason: String) {
            viewer.socket.send(PageMessage.notPaired(number, reason, code: nil, request: request))
        }
        if let reason = policy.reason { return refuse(reason) }
        guard let service = services[number] else { return refuse("the service is gone") }
        guard code.utf8.count == 6, code.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
            return refuse("enter the six digits of the code")
        }
        guard name.map({ (1...64).contains($0.utf8.count) }) ?? true else {
            return refuse("enter a name of 1 to 64 bytes")
        }
        guard !viewer.isPairing, pairing[number] == nil else {
            return refuse("a pairing is in progress; wait until it ends")
        }
        viewer.isPairing = true
        let bound = NIOLoopBound((self, viewer), eventLoop: eventLoop)
        pairing[number] = Task { [eventLoop, sessions, pairings, key = service.key, place = service.place] in
            let frame: EncodedFrame
            do throws(ElementalError) {
                let paired = try await sessions.pair(key, code: code, as: name)
                if let place { pairings.insert(place) }
                frame = PageMessage.paired(number, role: (paired.role ?? .observe).rawValue, request: request)
            } catch {
                frame = PageMessage.notPaired(number, error.message, code: error.code.description, request: request)
            }
            await eventLoop.run {
                let (board, viewer) = bound.value
                viewer.isPairing = false
                board.pairing[number] = nil
                viewer.socket.send(frame)
            }
        }
    }
}
