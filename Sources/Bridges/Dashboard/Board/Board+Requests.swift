internal import Elemental
internal import ElementalFollowing
import ElementalSecurity
import ElementalWire
import NIOCore
import Support
internal import WebServer

// What pages ask of services.
extension Board {
    func set(_ number: UInt32, _ id: Int8, _ page: PageValue, _ request: Int?, for viewer: Viewer) {
        func refuse(_ reason: String) {
            viewer.socket.send(PageMessage.refused(number, id, reason, request: request))
        }
        if let reason = policy.reason { return refuse(reason) }
        guard let service = services[number], let device = service.device, service.isConnected,
            let element = service.catalogue?[id: id]
        else { return refuse("the service is not connected") }
        guard element.access.contains(.write) else {
            return refuse(service.canPair ? "setting it takes a pairing" : "it can only be read")
        }
        let value: ElementValue
        do throws(WireError) {
            value = try page.elementValue(of: element)
        } catch {
            return refuse(error.message)
        }
        do throws(ElementalError) {
            try device.send(value, to: element)
        } catch {
            return refuse(error.message)
        }
        change(service) { $0.note(value, of: element, by: viewer.socket.id, request) }
    }

    func pair(_ number: UInt32, _ code: String, as name: String?, _ request: Int?, for viewer: Viewer) {
        func refuse(_ reason: String) {
            viewer.socket.send(PageMessage.notPaired(number, reason, code: nil, request: request))
        }
        if let reason = policy.reason { return refuse(reason) }
        guard let service = services[number] else { return refuse("the service is gone") }
        guard code.utf8.count == 6, code.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
            return refuse("the code has six digits")
        }
        guard name.map({ (1...64).contains($0.utf8.count) }) ?? true else {
            return refuse("a name has 1 to 64 bytes")
        }
        guard !viewer.isPairing, pairing[number] == nil else {
            return refuse("a pairing is under way; wait for its end")
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
