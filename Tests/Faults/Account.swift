import TestSupport
import Testing

/// The two ends' accounts of the numbers that they exchanged.
struct Account {
    let name: String
    let service: JSONLine
    let client: JSONLine

    /// Numbers in flight over TCP when a connection broke, to the service and back.
    var lostAtBreaks: (up: Int, down: Int) {
        (service.int("upLostAtBreaks"), client.int("downLostAtBreaks"))
    }

    var datagrams: (sent: Int, lost: Int) {
        let sent = client.int("upDatagramSent") + service.int("downDatagramSent")
        return (sent, sent - service.int("upDatagramReceived") - client.int("downDatagramReceived"))
    }

    /// Checks the guarantees of TCP, UDP and `latest`, whatever happened; `reorders` is what the network may do to datagrams.
    func expectPromises(reorders: Bool = false, sourceLocation: SourceLocation = #_sourceLocation) {
        let text = Comment(rawValue: "\(name)\nservice: \(service)\nclient: \(client)")
        for (line, prefix, sent) in [
            (service, "up", client.int("upSent")), (client, "down", service.int("downSent")),
        ] {
            #expect(line.int(prefix + "Missing") == 0, text, sourceLocation: sourceLocation)
            #expect(line.int(prefix + "Late") == 0, text, sourceLocation: sourceLocation)
            #expect(line.int(prefix + "Doubled") == 0, text, sourceLocation: sourceLocation)
            // Everything that was sent arrived or was in flight when a connection broke.
            let told = line.int(prefix + "Received") + line.int(prefix + "LostAtBreaks")
            #expect(line.int(prefix + "Last") == sent, text, sourceLocation: sourceLocation)
            #expect(told == sent, text, sourceLocation: sourceLocation)
            #expect(sent > 0, text, sourceLocation: sourceLocation)

            let datagrams = prefix + "Datagram"
            #expect(line.int(datagrams + "Doubled") == 0, text, sourceLocation: sourceLocation)
            if !reorders { #expect(line.int(datagrams + "Late") == 0, text, sourceLocation: sourceLocation) }
        }
        #expect(service.int("level") == client.int("level"), text, sourceLocation: sourceLocation)
    }

    /// Checks that the connection of the beginning has lasted, beside the guarantees.
    func expectUndisturbed(sourceLocation: SourceLocation = #_sourceLocation) {
        expectPromises(sourceLocation: sourceLocation)
        #expect(lostAtBreaks == (0, 0), sourceLocation: sourceLocation)
        #expect(client.int("reconnections") == 0, sourceLocation: sourceLocation)
    }
}

extension JSONLine {
    /// A whole number, -1 if there is none.
    func int(_ key: String) -> Int { number(key).map { Int($0) } ?? -1 }
}
