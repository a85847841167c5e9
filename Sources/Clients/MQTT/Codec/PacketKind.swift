/// The kinds of packets, by the upper four bits of their first byte (MQTT 3.1.1, 2.2.1).
enum PacketKind: UInt8 {
    case connect = 1
    case connAck, publish, pubAck, pubRec, pubRel, pubComp, subscribe, subAck, unsubscribe, unsubAck, pingReq, pingResp
    case disconnect

    /// The name in the specification.
    var name: String { "\(self)".uppercased() }
}
