import Elemental
import NIOCore
import NIOEmbedded
import PETSCII
import Testing

@testable import CommodoreGateway

/// A modem without a line, with simulated time.
final class ModemBench: ModemOwner {
    private(set) var published: [(id: Int8, value: ElementValue)] = []
    private(set) var elements: [ElementDefinition]?
    private(set) var programs: [String] = []
    private var made: Modem?
    /// The time, which only ``pass(_:)`` moves.
    private(set) var now = NIODeadline.uptimeNanoseconds(1_000_000_000)

    init(allowsMemory: Bool = false) {
        var configuration = GatewayConfiguration()
        configuration.allowsMemory = allowsMemory
        made = Modem(configuration, eventLoop: EmbeddedEventLoop(), owner: self)
        made?.lineOpened()
    }

    var modem: Modem {
        guard let made else { preconditionFailure("there is one from the start") }
        return made
    }

    func modem(publishes value: ElementValue, of element: ElementDefinition) { published.append((element.id, value)) }
    func modem(replacesElements elements: [ElementDefinition]) { self.elements = elements }
    func modemChanged(_ program: String, isConnected: Bool) { programs.append((isConnected ? "" : "-") + program) }
    func modemHasOutput() {}

    func values<Value>(of element: Element<Value>) -> [Value] {
        published.filter { $0.id == element.id }.compactMap { Value($0.value) }
    }

    /// Advances time, and returns the output meanwhile.
    func pass(_ time: TimeAmount) -> [UInt8] {
        let end = now + time
        var bytes: [UInt8] = []
        while now < end {
            now = min(now + .milliseconds(5), end)
            modem.wake(at: now)
            bytes += modem.output(at: now)
        }
        return bytes
    }

    func send(_ bytes: [UInt8]) { modem.receive(bytes, at: now) }
    func send(_ command: ModemCommand) { send(command.bytes) }

    /// The answer that comes within a second.
    func answer(to command: ModemCommand) -> [UInt8] {
        send(command)
        return pass(.seconds(1))
    }

    func connect(_ name: String = "test") {
        send(.stopWiFi)
        send(.startWiFi)
        send(.startWebSocket(Array("elemental:\(name)".utf8)))
        _ = pass(.seconds(2))
    }

    @discardableResult
    func take<Value>(_ value: Value, _ element: Element<Value>, from client: String = "tester") -> String? {
        modem.take(value.elementValue, of: element.definition, from: client, at: now)
    }
}

func envelope(_ id: Int8, _ value: [UInt8]) -> [UInt8] {
    [UInt8(bitPattern: id), UInt8(value.count), 0, 0, 0] + value
}

/// The records in a stream of results, or nil if it does not end with one.
func records(_ bytes: [UInt8]) -> [[UInt8]]? {
    var parser = ResultParser()
    let records = bytes.compactMap { parser.receive($0) }
    return parser.isWaiting ? nil : records
}
