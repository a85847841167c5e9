import Elemental
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// A service after the system has closed its listening socket.
struct ClosedSocketTests {
    /// Shuts down this process's listening socket at a port, after which SwiftNIO closes it. Of a shut down UDP socket
    /// SwiftNIO's debug build asserts that it has something to read.
    private func shutDownListener(at port: Int) {
        for descriptor in Int32(0)..<4096 where isListening(descriptor) {
            var (name, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
            withUnsafeMutableBytes(of: &name) { bytes in
                _ = getsockname(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length)
            }
            if Int(in_port_t(bigEndian: name.sin_port)) == port { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    private func isListening(_ descriptor: Int32) -> Bool {
        var (value, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) == 0 && value == 1
    }

    @Test(arguments: ConnectionKind.allCases)
    func aListenerThatTheSystemClosesIsOpenedAgain(over kind: ConnectionKind) async throws {
        try await withService(over: kind) { service, port in
            let events = Transcript<String>()
            service.onEvent { event in
                switch event {
                case .failedToListen(let error, _): events.add("\(error.code)")
                case .listening(let port): events.add("\(port)")
                default: break
                }
            }
            service.onValue(of: Lamp.motion) { value, device in try? device.send(value, to: Lamp.motion) }
            let first = try await connect(port, over: kind)
            shutDownListener(at: port)
            try await events.wait(for: 2)
            #expect(events.all == ["listeningFailed", "\(port)"])
            // The connection has lasted, and there are new ones.
            let second = try await connect(port, as: "second", over: kind)
            for device in [first, second] {
                try await device.ping()
                // A datagram may be lost, and its keys not be there yet.
                try await eventually {
                    try? device.send([1, 2, 3], to: Lamp.motion)
                    return device.value(of: Lamp.motion) == [1, 2, 3]
                }
                await device.close()
            }
        }
    }
}
