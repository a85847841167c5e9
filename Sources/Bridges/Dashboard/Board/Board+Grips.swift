internal import Elemental
import ElementalWire
import NIOCore
internal import WebServer

// // Elements that a page controls continuously, up to a hundred times a second, as a tilted phone does. If the page
// disappears, they are set to their rest values.
extension Board {
    /// A page that holds an element and sends nothing for this long counts as having let go.
    static let silenceLimit = TimeAmount.milliseconds(300)
    private static let watchInterval = TimeAmount.milliseconds(25)
    /// How often a rest value sent over UDP is repeated, once in every ``watchInterval``.
    private static let repeatCount = 4
    private static let answerInterval = TimeAmount.milliseconds(50)

    /// Lets a page hold an element, and notifies the page that held it before.
    func grip(_ number: UInt32, _ id: Int8, rest: PageValue?, _ request: Int?, for viewer: Viewer) {
        let place = ElementPlace(service: number, element: id)
        do throws(Refusal) {
            let element = try settable(place)
            guard grips[place]?.viewer === viewer || grips.held(by: viewer).count < PageRequest.maximumMoveCount else {
                throw Refusal(reason: "the page holds too many elements; let go of some")
            }
            let resting = try value(ofRest: rest, of: element)
            let former = grips[place]?.viewer
            let isTaken = former.map { $0 !== viewer } ?? false
            if isTaken { former?.socket.send(PageMessage.released(place, .taken)) }
            grips[place] = Grip(place, viewer, rest: resting)
            viewer.socket.send(PageMessage.gripped(place, isTaken: isTaken, request: request))
            watchGrips()
        } catch {
            viewer.socket.send(PageMessage.refused(number, id, error.reason, request: request))
        }
    }

    /// Passes on the values of elements that the page holds, and ignores the others.
    func move(_ moves: [PageRequest.Move], _ request: Int, for viewer: Viewer) {
        let now = NIODeadline.now()
        for move in moves {
            let place = ElementPlace(service: move.service, element: move.element)
            guard let grip = grips[place], grip.viewer === viewer else { continue }
            do throws(Refusal) {
                let element = try settable(place)
                try send(try value(move.value, of: element), to: element, place, for: viewer, request)
                grip.lastMove = now
                grip.isResting = false
            } catch {
                viewer.socket.send(PageMessage.refused(move.service, move.element, error.reason, request: request))
            }
        }
        viewer.unanswered = request
        answer(viewer, now)
    }

    /// Confirms the page's newest move, at most once in every ``answerInterval``. The page sends no more until then.
    private func answer(_ viewer: Viewer, _ now: NIODeadline) {
        guard let request = viewer.unanswered, viewer.socket.isWritable,
            viewer.lastAnswer.map({ now - $0 >= Self.answerInterval }) ?? true
        else { return }
        viewer.lastAnswer = now
        viewer.unanswered = nil
        viewer.socket.send(PageMessage.moved(request))
    }

    func rest(_ grip: Grip) {
        guard !grip.isResting else { return }
        grip.isResting = true
        setToRest(grip.rest, grip.place, for: grip.viewer)
        grip.viewer.socket.send(PageMessage.resting(grip.place))
    }

    /// Sets all that the page holds to rest, because the page has closed or lets go.
    func letGo(_ viewer: Viewer) {
        for grip in grips.held(by: viewer) {
            rest(grip)
            grips[grip.place] = nil
        }
        for (place, value) in viewer.atRest { setToRest(value, place, for: viewer) }
        viewer.atRest = [:]
        unwatchGrips()
    }

    /// Releases the elements of a service that has gone.
    func loseGrips(of service: BoardService) {
        for grip in grips.values.filter({ $0.place.service == service.number }) {
            grips[grip.place] = nil
            grip.viewer.socket.send(PageMessage.released(grip.place, .gone))
        }
        for viewer in viewers.values {
            for place in viewer.atRest.keys where place.service == service.number { viewer.atRest[place] = nil }
        }
        unwatchGrips()
    }

    /// Does nothing for a service that is away: its hardware has to stop by itself.
    private func setToRest(_ value: ElementValue?, _ place: ElementPlace, for viewer: Viewer) {
        guard let value, let element = try? settable(place) else { return }
        try? send(value, to: element, place, for: viewer, nil)
        guard element.transport == .udp else { return }
        grips.repeats[place] = (value, viewer, Self.repeatCount)
        watchGrips()
    }

    private func repeatRests() {
        for (place, (value, viewer, left)) in grips.repeats {
            if let element = try? settable(place) { try? send(value, to: element, place, for: viewer, nil) }
            grips.repeats[place] = left > 1 ? (value, viewer, left - 1) : nil
        }
    }

    /// Checks for silent pages, answers the others and repeats rest values, until none is left.
    private func watchGrips() {
        guard grips.watch == nil else { return }
        grips.watch = eventLoop.assumeIsolated().scheduleTask(in: Self.watchInterval) { [weak self] in
            guard let self else { return }
            repeatRests()
            let now = NIODeadline.now()
            for grip in grips.values {
                if now - grip.lastMove >= Self.silenceLimit { rest(grip) }
                answer(grip.viewer, now)
            }
            grips.watch = nil
            if !grips.isEmpty { watchGrips() }
        }
    }

    private func unwatchGrips() {
        guard grips.isEmpty else { return }
        grips.watch?.cancel()
        grips.watch = nil
    }
}
