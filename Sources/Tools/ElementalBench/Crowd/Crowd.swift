import Elemental

/// Makes one more connection to the service that is measured.
///
/// `number` counts these connections from 1; `allowsUDP` is whether the connection needs a UDP socket.
package typealias ConnectAnother =
    @Sendable (_ number: Int, _ allowsUDP: Bool) async throws(ElementalError) -> ElementalDevice

/// Many connections of this process to the service that is measured.
enum Crowd {
    /// How many connect at the same time.
    private static let width = 16

    /// Runs `body` with the given number of connections, and closes them in every case.
    static func with<Report>(
        _ count: Int, allowsUDP: Bool, _ connect: @escaping ConnectAnother,
        _ body: ([ElementalDevice]) async throws(ElementalError) -> Report
    ) async throws(ElementalError) -> Report {
        let (devices, failure) = await open(count, allowsUDP, connect)
        let report = await Result { () async throws(ElementalError) in
            if let failure { throw failure }
            return try await body(devices)
        }
        await close(devices)
        return try report.get()
    }

    private static func open(
        _ count: Int, _ allowsUDP: Bool, _ connect: @escaping ConnectAnother
    ) async -> ([ElementalDevice], ElementalError?) {
        await withTaskGroup(of: Result<ElementalDevice, ElementalError>.self) { group in
            var begun = 0
            func beginNext() {
                guard begun < count else { return }
                begun += 1
                group.addTask { [number = begun] in
                    await Result { () async throws(ElementalError) in try await connect(number, allowsUDP) }
                }
            }
            var devices: [ElementalDevice] = []
            var failure: ElementalError?
            for _ in 0..<width { beginNext() }
            for await result in group {
                switch result {
                case .success(let device): devices.append(device)
                case .failure(let error): failure = failure ?? error
                }
                if failure == nil { beginNext() }
            }
            return (devices, failure)
        }
    }

    private static func close(_ devices: [ElementalDevice]) async {
        await withDiscardingTaskGroup { group in
            for device in devices { group.addTask { await device.close() } }
        }
    }
}
