import Elemental
import Foundation
import TestSupport
import Testing

/// A value whose type is the user's may do anything while it is encoded, such as use the device that it is sent over.
struct OutboundUserCodeTests {
    @Test(.backstop, arguments: [8, 5000, 200_000])
    func aValueMayUseTheDeviceWhileItIsEncoded(byteCount: Int) async throws {
        try await withPair { service, device in
            let labels = Transcript<String>()
            let blobs = Transcript<Data>()
            service.onValue(of: Lamp.label) { value, _ in labels.add(value) }
            service.onValue(of: Lamp.blob) { value, _ in blobs.add(value) }
            let element = try Element<SelfReporting>(Lamp.blob.definition)
            try device.send(SelfReporting(byteCount: byteCount, device: device), to: element)
            try await labels.wait(for: 1)
            try await blobs.wait(for: 1)
            #expect(labels.all == ["sent 0"])
            #expect(blobs.all == [Data(repeating: 7, count: byteCount)])
        }
    }
}

/// Data that says over its device that it is about to be sent.
private struct SelfReporting: ElementRepresentable {
    static let elementType = ElementType.data

    let byteCount: Int
    var device: ElementalDevice?

    init(byteCount: Int, device: ElementalDevice?) {
        self.byteCount = byteCount
        self.device = device
    }

    init?(wireBytes bytes: UnsafeRawBufferPointer) { self.init(byteCount: bytes.count, device: nil) }

    init?(_ elementValue: ElementValue) {
        guard case .data(let data) = elementValue else { return nil }
        self.init(byteCount: data.count, device: nil)
    }

    var wireByteCount: Int { byteCount }

    var elementValue: ElementValue { .data(Data(repeating: 7, count: byteCount)) }

    func writeWireBytes(to destination: UnsafeMutableRawPointer) {
        destination.initializeMemory(as: UInt8.self, repeating: 7, count: byteCount)
        guard let device else { return }
        try? device.send("sent \(device.statistics.messagesSent)", to: Lamp.label)
    }
}
