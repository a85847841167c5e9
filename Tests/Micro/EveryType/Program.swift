import ElementalMicro

/// A device that takes whatever its client sets, and counts.
final class Program {
    let service: ElementalService
    private var count: UInt32 = 0
    private var last: UInt32 = 0

    init(seed: UInt32) {
        service = ElementalService("every-type", elements: EveryType.all, seed: seed)
        for element in EveryType.all.elements where element.access == .readWrite { service.relay(element) }
        service.onValue(of: EveryType.button) { [self] _ in count = 0 }
    }

    func step(at now: UInt32) {
        guard now &- last >= 50 else { return }
        last = now
        count += 1
        // An element marked "latest" always has room.
        try? service.send(count, to: EveryType.reading)
    }
}
