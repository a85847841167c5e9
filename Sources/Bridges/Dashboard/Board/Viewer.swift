internal import WebServer

/// A page that somebody looks at.
final class Viewer {
    let socket: WebSocketConnection
    /// Whether it has said hello, and its token is right.
    var isAdmitted = false
    /// The services that it shows.
    var shown = ServiceSet()
    /// The services that it asks for, until the next tick.
    var asked: Set<UInt32>?
    /// Of the services that it shows, those that it has closed since the last tick. If it asks for one again, it has kept
    /// nothing of it.
    var closed: Set<UInt32> = []
    /// Elements, by their services' numbers, whose values it has yet to be sent, because it takes what it is sent more
    /// slowly than that comes. The newest value counts.
    var missed: [UInt32: Set<Int8>] = [:]
    /// Services whose elements it has yet to be told.
    var missedCatalogues: Set<UInt32> = []
    /// Whether it is pairing with a service: one at a time.
    var isPairing = false

    init(_ socket: WebSocketConnection) { self.socket = socket }

    var isBehind: Bool { !missed.isEmpty || !missedCatalogues.isEmpty }

    /// There is nothing to tell of an element.
    func forget(_ number: UInt32, _ id: Int8) {
        missed[number]?.remove(id)
        if missed[number]?.isEmpty == true { missed[number] = nil }
    }

    /// The service is no longer shown.
    func forget(_ number: UInt32) {
        missed[number] = nil
        missedCatalogues.remove(number)
    }

    /// Sends values as far as there is room. The others are missed.
    func send(_ parcels: [Parcel]) {
        for parcel in parcels {
            if socket.isWritable {
                socket.send(parcel.frame)
                for (number, ids) in parcel.items {
                    missed[number]?.subtract(ids)
                    if missed[number]?.isEmpty == true { missed[number] = nil }
                }
            } else {
                for (number, ids) in parcel.items { missed[number, default: []].formUnion(ids) }
            }
        }
    }
}

/// A set of services that pages show. Pages that show the same ones share it, and what is written for them.
final class ServiceSet {
    let numbers: Set<UInt32>
    /// How many pages show them.
    var viewerCount = 0
    /// What the present tick brought, written once.
    var news: [Parcel]?

    init(_ numbers: Set<UInt32> = []) { self.numbers = numbers }
}
