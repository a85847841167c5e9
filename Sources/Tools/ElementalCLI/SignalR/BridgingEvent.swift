import Elemental
import SignalRBridge
import Support

/// A bridge begins, and this is who controls the service thereby.
struct BridgingEvent: ConsoleEvent {
    let device: String
    let url: String
    let controls: Bool
    /// What the service has granted; `nil` if the connection is not encrypted.
    let role: String?

    init(_ bridge: HubBridge, url: String, controls: Bool) {
        device = bridge.device.name
        self.url = url
        self.controls = controls
        role = bridge.device.grantedRole?.rawValue
    }

    var isResult: Bool { false }

    var lines: [String] {
        [
            controls
                ? "whoever may call this client's methods through the hub \(url) controls \(device)"
                : "the hub \(url) is told what \(device) says and sets nothing there; --control would let it"
        ]
    }

    var json: JSONText {
        .event(
            "bridging",
            [
                ("device", .string(device)), ("hub", .string(url)), ("control", .bool(controls)),
                ("role", .optional(role)),
            ])
    }
}
