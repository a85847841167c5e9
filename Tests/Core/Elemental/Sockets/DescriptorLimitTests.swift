import ElementalWire
import Glibc
import TestSupport
import Testing

@testable import Elemental

/// The limit on open descriptors. It belongs to the process, so these tests change it in child processes.
struct DescriptorLimitTests {
    private static func set(_ count: Int) {
        var limit = rlimit(rlim_cur: rlim_t(count), rlim_max: rlim_t(count))
        precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    }

    @Test(arguments: [(0, 0), (3, 0), (64, 16), (127, 31), (128, 32), (1024, 32), (Int.max, 32)])
    func aPartIsReserved(_ limit: Int, _ reserve: Int) {
        #expect(DescriptorLimit.reserve(of: limit) == reserve)
    }

    @Test
    func theReserveIsAboveTheConnections() async {
        await #expect(processExitsWith: .success) {
            Self.set(128)
            #expect(DescriptorLimit.current == 128)
            for (descriptor, room) in [(3, 92), (94, 1), (95, 0), (127, 0)] {
                #expect(DescriptorLimit.room(above: CInt(descriptor)) == room)
            }
            #expect(!DescriptorLimit.isReserved(95))
            #expect(DescriptorLimit.isReserved(96))
        }
    }

    @Test
    func aServiceKnowsHowManyDevicesItCanHave() async throws {
        try await withService(Lamp.all, { $0.maximumDeviceCount = 3 }) { service, _ in
            #expect(service.deviceCapacity == 3)
            await service.stop()
            #expect(service.deviceCapacity == nil)
        }
        await #expect(processExitsWith: .success) {
            Self.set(128)
            try await withService { service, port in
                let capacity = try #require(service.deviceCapacity)
                #expect((1..<93).contains(capacity))
                // Each connection takes two descriptors of this process.
                var peers: [RawSocket] = []
                var texts: [String] = []
                while texts.isEmpty, peers.count < capacity {
                    let peer = try RawSocket.connect(to: port)
                    let frame = try await peer.readFrame()
                    if frame.id == SystemElement.shutdown.rawValue {
                        texts.append(String(decoding: frame.value, as: UTF8.self))
                    }
                    peers.append(peer)
                }
                #expect(texts == ["refused: the service has no descriptors left; try again later"])
                #expect(peers.count > 10)
            }
        }
    }
}
