import Bridging
import Elemental
import Testing

@testable import ElementalCLI

/// What waits for a bridging that is slow.
struct HubInputTests {
    private func take(_ inputs: HubInputs) async throws -> [String] {
        inputs.finish()
        var all: [String] = []
        try await inputs.forEach { input in
            switch input {
            case .failure(let error): all.append(error.message)
            case .connected(let key, _, _): all.append("connected \(key)")
            case .gone(let key): all.append("gone \(key)")
            }
        }
        return all
    }

    @Test
    func ofServicesThatComeAndGoNothingRemains() async throws {
        let inputs = HubInputs()
        inputs.put(ElementalError(.timedOut, "the first"))
        for number in 0..<1000 {
            let key = ServiceKey(service: "lamp", name: "\(number)")
            inputs.put(ElementalError(.timedOut, "failure \(number)"))
            inputs.put(.away(reason: "", message: "", retryIn: nil), of: key)
            inputs.put(.gone, of: key)
        }
        let all = try await take(inputs)
        #expect(all == ["the first"])
    }
}
