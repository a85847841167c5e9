import ElementalMicro
import TestSupport

/// A device and its client on a line.
final class Pair {
    var service: ElementalService
    var client = LineClient()
    private var now: UInt32 = 0
    /// Bytes are lost on the way to the client.
    var loses = false

    init(_ service: ElementalService) { self.service = service }

    /// Lets time pass, in steps of a millisecond with 12 bytes each way.
    func run(_ milliseconds: Int = 200) {
        for _ in 0..<milliseconds {
            now &+= 1
            for _ in 0..<12 {
                if let byte = service.nextByte(at: now), !loses { client.receive(byte, at: now) }
                if let byte = client.nextByte(at: now) { service.receive(byte, at: now) }
            }
            service.tick(at: now)
            client.tick(at: now)
        }
    }
}
