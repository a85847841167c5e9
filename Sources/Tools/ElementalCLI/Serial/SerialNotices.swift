import Elemental
import SerialGateway
import Support

extension ConsoleEvent where Self == Notice {
    static func serial(_ event: SerialGatewayEvent, on line: String) -> Notice {
        func device(_ state: String, _ service: ElementalService, _ text: (String) -> String) -> Notice {
            Notice(
                "device",
                JSONText.members(service.service, service.displayName)
                    + [("state", .string(state)), ("line", .string(line))],
                text("\(service.service)/\(service.displayName)"))
        }
        func problem(_ reason: String, _ message: String, retryIn delay: Duration? = nil) -> Notice {
            Notice(
                "problem",
                [("line", .string(line))] + JSONText.members(reason, because: message) + JSONText.delay(delay),
                "\(line): \(message)" + (delay.map { "; retrying in \($0)" } ?? ""))
        }
        switch event {
        case .line(let event): return .line(event, of: line)
        case .deviceAppeared(let service): return device("appeared", service) { "\(line) is \($0)" }
        case .deviceReturned(let service): return device("returned", service) { "\($0) is back on \(line)" }
        case .deviceLost(let service): return device("lost", service) { "\($0) on \(line) no longer answers" }
        case .deviceGone(let service):
            return device("gone", service) { "\($0) on \(line) did not come back: its service is withdrawn" }
        case .restored(let count):
            let values = count == 1 ? "1 value that clients had set is" : "\(count) values that clients had set are"
            return Notice(
                "restored", [("line", .string(line)), ("count", .integer(count))], "\(line): \(values) restored")
        case .deviceRejected(let reason, let delay): return problem("notPublished", reason, retryIn: delay)
        case .keptInMemory(let error):
            return problem("keptInMemory", "values are kept in memory only: \(error.message)")
        case .problem(let reason): return problem("leftOut", reason)
        }
    }

    static func serialDevice(_ candidate: SerialCandidate) -> Notice {
        let remark =
            candidate.isUsable ? "" : "  [not usable by this user: sudo adduser $USER dialout, then log in again]"
        return Notice(
            "serialDevice",
            [
                ("path", .string(candidate.path)), ("device", .string(candidate.device)),
                ("usable", .bool(candidate.isUsable)),
            ], isResult: true, "\(candidate.path)  \(candidate.device)\(remark)")
    }
}
