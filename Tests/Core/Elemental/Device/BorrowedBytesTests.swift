import Foundation
import Support
import TestSupport
import Testing

@testable import Elemental

/// Handlers that borrow a value's bytes.
struct BorrowedBytesTests {
    @Test(arguments: ConnectionKind.allCases)
    func theBytesAreThoseOfEveryValue(kind: ConnectionKind) async throws {
        let texts = ["", "short", String(repeating: "ü", count: 100), String(repeating: "x", count: 300_000)]
        try await withService(over: kind) { service, port in
            let (atService, atClient) = (Transcript<[UInt8]>(), Transcript<[UInt8]>())
            service.onBytes(of: Lamp.label) { bytes, device in
                #expect(bytes.byteCount == 0 || device.name == "tester")
                atService.add(bytes.withUnsafeBytes { Array($0) })
            }
            let device = try await connect(port, over: kind)
            device.onBytes(of: Lamp.label) { bytes, _ in atClient.add(bytes.withUnsafeBytes { Array($0) }) }
            for text in texts {
                try await device.sendWhenReady(text, to: Lamp.label)
                try service.send(text, to: Lamp.label)
            }
            try await atService.wait(for: texts.count)
            try await atClient.wait(for: texts.count)
            #expect(atService.all == texts.map { Array($0.utf8) })
            #expect(atClient.all == texts.map { Array($0.utf8) })
            // One that is added later begins with the newest value.
            let late = Transcript<[UInt8]>()
            let registration = device.onBytes(of: Lamp.label) { bytes, _ in
                late.add(bytes.withUnsafeBytes { Array($0) })
            }
            try await late.wait(for: 1)
            #expect(late.all == [Array(texts[3].utf8)])
            registration.cancel()
            await device.close()
        }
    }
}
