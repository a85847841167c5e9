import Elemental
import ElementalFollowing
import Testing

@testable import ElementalRecording

/// What services can make a recorder keep while the disk is slow, whatever they do.
struct RecordQueueTests {
    @Test
    func eventsServicesAndCataloguesAreBoundedInBytes() throws {
        let limit = 1 << 20
        // No element is recorded, so that no channel is used up.
        var queue = RecordQueue(names: ["Nothing"], limit: limit)
        let reason = String(repeating: "x", count: 1000)
        for number in 0..<20_000 {
            let key = ServiceKey(service: "robot", name: "Rover \(number % 100 == 0 ? 0 : number)")
            let elements: ElementCatalogue = [Element<Float>(1, "Speed \(number)")]
            queue.connected(key, elements, at: UInt64(number))
            queue.disconnected(key, .away, reason, at: UInt64(number))
        }
        #expect(queue.byteCount <= limit + RecordQueue.eventByteCount)
        #expect(queue.trackByteCount <= RecordQueue.mostTrackBytes && queue.trackByteCount > 15 << 20)
        // What is missing is told with the next that is taken.
        let lost = queue.lostCount
        #expect(lost > 10_000)
        let counts = queue.take().compactMap { if case .event(let event, _) = $0 { event.count } else { nil } }
        #expect(counts.reduce(0, +) == lost)
    }
}
