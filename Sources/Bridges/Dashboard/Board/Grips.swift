import ElementalWire
import NIOCore

/// An element of a service.
struct ElementPlace: Sendable, Hashable {
    let service: UInt32
    let element: Int8
}

/// An element that a page holds: nobody moves it from another page meanwhile.
final class Grip {
    let place: ElementPlace
    let viewer: Viewer
    /// What it is set to when the page says nothing any more; `nil` if it keeps its value.
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
    /// What looks for pages that have gone silent, while something is held.
    var watch: Scheduled<Void>?

    var isEmpty: Bool { all.isEmpty }
    var values: some Collection<Grip> { all.values }

    subscript(place: ElementPlace) -> Grip? {
        get { all[place] }
        set { all[place] = newValue }
    }

    func held(by viewer: Viewer) -> [Grip] { all.values.filter { $0.viewer === viewer } }
}
