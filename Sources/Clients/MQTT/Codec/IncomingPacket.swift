import NIOCore

/// A packet that a broker may send to a client without QoS 2.
enum IncomingPacket: Equatable {
    case connAck(isSessionPresent: Bool, returnCode: UInt8)
    /// The identifier is 0 for QoS 0.
    case publish(MQTTMessage, identifier: UInt16)
    case pubAck(UInt16)
    case subAck(UInt16, codes: [UInt8])
    case unsubAck(UInt16)
    case pingResp

    var kind: PacketKind {
        switch self {
        case .connAck: .connAck
        case .publish: .publish
        case .pubAck: .pubAck
        case .subAck: .subAck
        case .unsubAck: .unsubAck
        case .pingResp: .pingResp
        }
    }
}

/// The kinds of packets, by the upper four bits of their first byte (MQTT 3.1.1, 2.2.1).
enum PacketKind: UInt8 {
    case connect = 1
    case connAck, publish, pubAck, pubRec, pubRel, pubComp, subscribe, subAck, unsubscribe, unsubAck, pingReq, pingResp
    case disconnect

    /// The name in the specification.
    var name: String { "\(self)".uppercased() }
}
