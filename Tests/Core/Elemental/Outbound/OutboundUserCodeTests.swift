import Foundation
import TestSupport
import Testing

@testable import Elemental

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

    @Test(arguments: [8, 5000, 200_000])
    func aValueThatWritesTooLittleIsNotSent(byteCount: Int) async throws {
        try await withPair { service, device in
            let blobs = Transcript<Data>()
            service.onValue(of: Lamp.blob) { blobs.add($0) }
            let element = try Element<Miscounting>(Lamp.blob.definition)
            let short = Miscounting(wireByteCount: byteCount, written: byteCount - 1)
            for send in [{ try device.send(short, to: element) }, { _ = try service.send(short, to: element) }] {
                let error = await elementalError(send)
                #expect(error?.code == .invalidValue)
                #expect(error?.message.contains("Miscounting wrote \(byteCount - 1) bytes") == true)
            }
            try device.send(Miscounting(wireByteCount: byteCount, written: byteCount), to: element)
            try await blobs.wait(for: 1)
            #expect(blobs.all == [Data(repeating: 7, count: byteCount)])
            #expect(service.value(of: Lamp.blob) == nil)
        }
    }

    @Test
    func aValueThatWritesTooMuchStopsTheProgramBeforeItOverflows() async {
        await #expect(processExitsWith: .failure) {
            _ = try? Miscounting(wireByteCount: 8, written: 9).withWireBytes { $0.count }
        }
    }

    @Test
    func aValueThatAnnouncesLessThanNothingStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            _ = try? Miscounting(wireByteCount: -1, written: 0).withWireBytes { $0.count }
        }
    }
}

/// Data whose type errs about how much it writes.
private struct Miscounting: ElementRepresentable {
    static let elementType = ElementType.data

    let wireByteCount: Int
    let written: Int

    init(wireByteCount: Int, written: Int) {
        self.wireByteCount = wireByteCount
        self.written = written
    }

    init?(wireBytes bytes: UnsafeRawBufferPointer) { nil }

    init?(_: ElementValue) { nil }

    var elementValue: ElementValue { .data(Data()) }

    func writeWireBytes(to destination: inout OutputRawSpan) {
        destination.append(repeating: 7, count: written, as: UInt8.self)
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

    func writeWireBytes(to destination: inout OutputRawSpan) {
        destination.append(repeating: 7, count: byteCount, as: UInt8.self)
        guard let device else { return }
        try? device.send("sent \(device.statistics.messagesSent)", to: Lamp.label)
    }
}
