import ElementalSecurity
import ElementalWire
import TestSupport
import Testing

@testable import Elemental

/// What a pin binds: the service that was paired, by its name in any case, and no other.
struct SiblingTests {
    private static func connect(
        _ ends: PairedEnds, _ port: Int, _ service: String, _ instance: String, id: String? = nil,
        isRequired: Bool = false, _ policy: SecurityPolicy? = nil
    ) async throws -> ElementalDevice {
        var options = ConnectOptions.patientAtTheEnd
        options.security =
            isRequired ? ends.clientSecurity : .automatic(identity: ends.client, store: ends.clientStore)
        return try await DiscoveredService.onLoopback(port, instance, service: service, policy, id: id).connect(
            as: "tester", elements: Lamp.all, options: options)
    }

    @Test
    func aPairedServiceIsKnownByItsNameInAnyCase() async throws {
        let ends = try PairedEnds()
        try ends.serviceStore.update { $0.clients[0].services = ["TEST"] }
        try ends.clientStore.update {
            $0.services[0].service = "tEST"
            $0.services[0].instance = "TesT"
        }
        try await ends.withService { _, port in
            let device = try await ends.connect(port)
            #expect(device.grantedRole == .control)
            await device.close()
        }
    }

    /// Paired by host and port, which told the service's name.
    @Test
    func aServicePairedByHostAndPortIsFoundByItsName() async throws {
        try await Strangers.with { ends, service, port, secrets in
            try service.openPairing()
            try await secrets.wait(for: 1)
            _ = try await Strangers.pair(ends, port, with: secrets.all[0])
            let device = try await Self.connect(ends, port, "Test", "Rover", isRequired: true)
            #expect(device.grantedRole == .control)
            await device.close()
        }
    }

    /// Another service of the host, which has no encryption, at the address where the paired one was reached.
    @Test
    func anOpenServiceOfAPairedHostIsReachedByItsName() async throws {
        let ends = try PairedEnds()
        try await withService { _, port in
            try ends.clientStore.update {
                $0.services[0].service = "lamp"
                $0.services[0].hosts = [.init("127.0.0.1", port: UInt16(port))]
            }
            let device = try await Self.connect(ends, port, "test", "Other")
            #expect(device.grantedRole == nil)
            await device.close()
            // By host and port it may be the paired one.
            var options = ConnectOptions.patient
            options.security = .automatic(identity: ends.client, store: ends.clientStore)
            let error = await elementalError { [options] in
                _ = try await ElementalDevice.connect(host: "127.0.0.1", port: port, as: "tester", options: options)
            }
            #expect(error?.description.contains("'lamp/Test' was reached at this host and is paired") == true)
            #expect(error?.description.contains("connect to it by its name") == true)
            #expect(error?.description.hasSuffix("without encryption: 127.0.0.1:\(port) --security open") == true)
        }
    }

    /// Another service of the same identity: the pairing counts where the service grants it, otherwise it is not paired.
    @Test
    func aServiceOfThePairedIdentityIsReachedByThePairingOrAsBefore() async throws {
        let ends = try PairedEnds()
        try ends.clientStore.update { $0.services[0].service = "lamp" }
        let id = ends.service.fingerprint.short
        for (isGranted, policy) in [(true, SecurityPolicy.paired), (false, .pairedToControl), (false, .paired)] {
            try ends.trust(isGranted ? .control : nil)
            try await ends.withService {
                if policy == .pairedToControl {
                    $0.security = .pairedToControl(identity: ends.service, store: ends.serviceStore)
                }
            } _: { _, port in
                do {
                    let device = try await Self.connect(ends, port, "test", "Other", id: id, policy)
                    #expect(device.grantedRole == (isGranted ? .control : nil))
                    #expect(isGranted || policy == .pairedToControl)
                    #expect(device.fingerprint == (isGranted ? ends.service.fingerprint : nil))
                    await device.close()
                } catch let error as ElementalError {
                    #expect(!isGranted && policy == .paired)
                    #expect(error.code == .notPaired && error.description.contains("is not paired with the service"))
                }
            }
        }
    }
}
