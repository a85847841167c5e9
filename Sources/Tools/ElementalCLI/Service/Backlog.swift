import Elemental

/// The devices to which values could not be sent, reported once when that begins and once when it is over: a device that
/// does not read would otherwise fill the screen with every value.
struct Backlog {
    private var missed: [ElementalDevice: Int] = [:]

    mutating func report(_ failures: [SendFailure], _ console: Console) async {
        guard !failures.isEmpty || !missed.isEmpty else { return }
        let failing = Set(failures.map(\.device))
        for (device, count) in missed where !failing.contains(device) {
            missed[device] = nil
            if device.isConnected {
                await console.talk("\(device) accepts values again; \(count) were not sent to it")
            }
        }
        for failure in failures {
            let count = missed[failure.device, default: 0]
            missed[failure.device] = count + 1
            if count == 0 { await console.talk("not sent to \(failure.device): \(failure.error)") }
        }
    }
}
