/// Something that is given arbitrary bytes and must neither crash nor hang, nor break what it promises.
protocol FuzzTarget: SendableMetatype {
    /// The name on the command line.
    static var name: String { get }
    /// Inputs to begin with, made from recorded frames.
    static func seeds(_ frames: RecordedFrames) -> [[UInt8]]
    /// Takes one input.
    static func run(_ input: UnsafeRawBufferPointer)
}

enum FuzzTargets {
    static let all: [any FuzzTarget.Type] = [
        StreamTarget.self, DatagramTarget.self, HelloTarget.self, CatalogueTarget.self, ValueTarget.self,
        TXTRecordTarget.self, AdmissionTarget.self, CertificateTarget.self, TrustFileTarget.self, ServiceTarget.self,
        ClientTarget.self, MQTTTarget.self, RecordingTarget.self, OSCTarget.self,
        SerialLinkTarget.self, DeviceTarget.self,
    ]
}

/// What must hold whatever the input. The fuzzer takes the end of the process for a finding and keeps the input.
@inline(__always)
func check(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition { fatalError("broken: \(what())") }
}
