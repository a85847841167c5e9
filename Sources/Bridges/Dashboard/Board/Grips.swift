import ElementalWire
import NIOCore

/// An element of a service.
struct ElementPlace: Sendable, Hashable {
    let service: UInt32
    let element: Int8
}

/// An element that one page controls continuously. Other pages and commands can still set it.
final class Grip {
    let place: ElementPlace
    let viewer: Viewer
    /// The value that it gets when the page lets go or stops sending; `nil` if it keeps the last one.
    let rest: ElementValue?
    var lastMove: NIODeadline
    var isResting = true

    init(_ place: ElementPlace, _ viewer: Viewer, rest: ElementValue?) {
        self.place = place
        self.viewer = viewer
        self.rest = rest
        lastMove = .now()
    }
}

/// The elements that pages hold, one page each.
struct Grips {
    private var all: [ElementPlace: Grip] = [:]
    /// Rest values sent over UDP, where they may be lost, and how many repetitions of each are left.
    var repeats: [ElementPlace: (rest: ElementValue, viewer: Viewer, left: Int)] = [:]
    /// The next check for silent pages, while something is held or repeated.
    var watch: Scheduled<Void>?

    var isEmpty: Bool { all.isEmpty && repeats.isEmpty }
    var values: some Collection<Grip> { all.values }

    subscript(place: ElementPlace) -> Grip? {
        get { all[place] }
        set { all[place] = newValue }
    }

    func held(by viewer: Viewer) -> [Grip] { all.values.filter { $0.viewer === viewer } }
}
