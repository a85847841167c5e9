/// Something that is given arbitrary bytes and must neither crash nor hang, nor break what it promises.
protocol FuzzTarget: SendableMetatype {
    /// Its name on the command line and in the corpus.
    static var name: String { get }
    /// Inputs to begin with, made from recorded frames.
    static func seeds(_ frames: RecordedFrames) -> [[UInt8]]
    static func run(_ input: UnsafeRawBufferPointer)
}

/// All targets. To add one, add it to this list and run `Tests/fuzz --target NAME --seconds 300 --keep`, which writes its corpus.
enum FuzzTargets {
    static let all: [any FuzzTarget.Type] = [
        StreamTarget.self, DatagramTarget.self, HelloTarget.self, CatalogueTarget.self, ValueTarget.self,
        TXTRecordTarget.self, AdmissionTarget.self, CertificateTarget.self, TrustFileTarget.self, ServiceTarget.self,
        ClientTarget.self, MQTTTarget.self, RecordingTarget.self, OSCTarget.self,
        SerialLinkTarget.self, DeviceTarget.self, TextTarget.self, SignalRTarget.self,
    ]

    static func named(_ name: String) -> (any FuzzTarget.Type)? { all.first { $0.name == name } }
}

/// Checks what must hold for every input. Ends the process if it does not: libFuzzer then keeps the input.
@inline(__always)
func check(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition { fatalError("broken: \(what())") }
}
