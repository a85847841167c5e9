import Elemental
import Support
import TestSupport
import Testing

@testable import ElementalObservation

/// Pairing as a model, with a service of this process.
@MainActor
@Suite(.backstop)
struct PairingTests {
    private struct Bed {
        let service: ElementalService
        let secrets: Locked<[PairingSecret]>
        let client = Ed25519Identity()
        let store = InMemoryTrustStore()

        var options: ConnectOptions {
            var options = ConnectOptions.patient
            options.security = .automatic(identity: client, store: store)
            return options
        }

        @MainActor
        var pairing: ObservedPairing {
            get throws {
                ObservedPairing(
                    host: "127.0.0.1", port: try #require(service.port), as: "Rob's iPhone", options: options)
            }
        }

        /// Opens a window, and returns what the service shows.
        @MainActor
        func open(
            _ kind: PairingSecret.Kind = .code, for duration: Duration = .seconds(300)
        ) async throws -> PairingSecret {
            let count = secrets.withLock { $0.count }
            try service.openPairing(for: duration, kind)
            try await eventually { secrets.withLock { $0.count } > count }
            return try #require(secrets.withLock { $0.last })
        }
    }

    private static func with(
        _ security: ServiceSecurity = .paired(identity: Ed25519Identity(), store: InMemoryTrustStore()),
        _ body: (Bed) async throws -> Void
    ) async throws {
        try await Lamp.with(security: security) { service in
            let secrets = Locked<[PairingSecret]>([])
            service.onEvent { event in
                if case .pairing(.opened(let secret, _, _)) = event { secrets.withLock { $0.append(secret) } }
            }
            try await body(Bed(service: service, secrets: secrets))
        }
    }

    private static func isWaiting(_ pairing: ObservedPairing, _ kind: PairingSecret.Kind = .code) -> Bool {
        if case .waiting(kind) = pairing.state { true } else { false }
    }

    private static func failure(_ pairing: ObservedPairing) -> ElementalError? {
        if case .failed(let error) = pairing.state { error } else { nil }
    }

    private static func isPaired(_ pairing: ObservedPairing) -> Bool {
        if case .paired = pairing.state { true } else { false }
    }

    /// A model that only reads is given no word: it connects anew by itself.
    @Test
    func aModelThatReadsIsPairedAndSets() async throws {
        let security = ServiceSecurity.pairedToControl(identity: Ed25519Identity(), store: InMemoryTrustStore())
        try await Self.with(security) { bed in
            let received = Transcript<Float>()
            bed.service.onValue(of: Lamp.brightness) { value, _ in received.add(value) }
            let model = Lamp.model(at: try #require(bed.service.port)) { $0.security = bed.options.security }
            try await eventually { model.state.isConnected && !model.isRoundUnderWay }
            #expect(model.device?.fingerprint == nil)
            let secret = try await bed.open()
            let pairing = try bed.pairing
            try await eventually { Self.isWaiting(pairing) }
            pairing.enter(secret.text)
            try await eventually { Self.isPaired(pairing) }
            try await eventually { model.state.isConnected && model.device?.grantedRole == .control }
            model[Lamp.brightness] = 0.5
            try await received.wait(for: 1)
            #expect(received.all == [0.5])
        }
    }

    /// Other six digits.
    private static func wrong(_ secret: PairingSecret) -> String { secret.text == "111111" ? "222222" : "111111" }

    @Test
    func theRightCodePairs() async throws {
        try await Self.with { bed in
            let model = Lamp.model(at: try #require(bed.service.port)) {
                $0.security = .required(identity: bed.client, store: bed.store)
            }
            try await eventually { if case .failed = model.state { true } else { false } }
            guard case .failed(let error) = model.state else { throw TestSupportError("\(model.state)") }
            #expect(error.code == .notPaired)

            let secret = try await bed.open()
            let pairing = try bed.pairing
            let watch = Watch { _ = pairing.state }
            if case .asking = pairing.state {} else { Issue.record("\(pairing.state)") }
            try await eventually { Self.isWaiting(pairing) }
            #expect(pairing.triesLeft == 5 && pairing.mistake == nil)
            let left = try #require(pairing.timeLeft)
            #expect(left > .seconds(0) && left <= .seconds(300))
            // What cannot be a code costs nothing.
            pairing.enter("12 34")
            #expect(
                pairing.mistake == "enter the six digits of the code" && Self.isWaiting(pairing)
                    && pairing.triesLeft == 5)
            // The time goes by.
            try await eventually { (pairing.timeLeft ?? .zero) < left }
            pairing.enter(" \(secret.text.prefix(3))-\(secret.text.suffix(3))")
            #expect(pairing.mistake == nil)
            if case .checking = pairing.state {} else { Issue.record("\(pairing.state)") }
            try await eventually { Self.isPaired(pairing) }
            guard case .paired(let service) = pairing.state else { throw TestSupportError("\(pairing.state)") }
            #expect(service.service == "lamp" && service.role == .control && pairing.timeLeft == nil)
            #expect(watch.count == 3)
            // Nothing more happens to it.
            pairing.start()
            pairing.cancel()
            pairing.enter("123456")
            #expect(Self.isPaired(pairing) && watch.count == 3)
            // And the model connects, encrypted.
            model.connect()
            try await eventually { model.state.isConnected }
            #expect(model.device?.fingerprint == service.fingerprint)
        }
    }

    @Test
    func aWrongCodeCostsATryUntilNoneIsLeft() async throws {
        try await Self.with { bed in
            let secret = try await bed.open()
            let pairing = try bed.pairing
            _ = pairing.state
            for left in [4, 3, 2, 1] {
                try await eventually { Self.isWaiting(pairing) }
                pairing.enter(Self.wrong(secret))
                #expect(pairing.mistake == nil)
                try await eventually { pairing.triesLeft == left }
                #expect(pairing.mistake?.contains("the code is wrong") == true)
            }
            try await eventually { Self.isWaiting(pairing) }
            pairing.enter(Self.wrong(secret))
            try await eventually { Self.failure(pairing) != nil }
            #expect(Self.failure(pairing)?.code == .pairingClosed, "\(String(describing: Self.failure(pairing)))")
            #expect(pairing.triesLeft == 0 && pairing.timeLeft == nil)
            #expect(bed.store.read().services.isEmpty)
            // A new window has five again.
            let next = try await bed.open()
            pairing.start()
            try await eventually { Self.isWaiting(pairing) }
            #expect(pairing.triesLeft == 5 && pairing.mistake == nil)
            pairing.enter(next.text)
            try await eventually { Self.isPaired(pairing) }
        }
    }

    @Test
    func aPairingThatWaitsIsReleased() async throws {
        try await Self.with { bed in
            _ = try await bed.open()
            weak var weakPairing: ObservedPairing?
            do {
                let pairing = try bed.pairing
                try await eventually { Self.isWaiting(pairing) }
                weakPairing = pairing
            }
            try await eventually { weakPairing == nil }
            // The service is free for another one.
            let other = try bed.pairing
            try await eventually { Self.isWaiting(other) }
        }
    }

    @Test
    func aLongSecretHasNoCountedTries() async throws {
        try await Self.with { bed in
            let secret = try await bed.open(.secret)
            let pairing = try bed.pairing
            _ = pairing.state
            try await eventually { Self.isWaiting(pairing, .secret) }
            #expect(pairing.triesLeft == nil)
            pairing.enter("short")
            #expect(pairing.mistake == "the secret is not valid; enter all of it")
            pairing.enter(secret.text)
            try await eventually { Self.isPaired(pairing) }
        }
    }

    @Test
    func whatIsClosedOrOverOrCancelledSaysSo() async throws {
        try await Self.with { bed in
            let pairing = try bed.pairing
            _ = pairing.state
            try await eventually { Self.failure(pairing)?.code == .pairingClosed }
            // Nobody enters anything. On a slow machine the first window may close before its secret is asked for.
            for seconds in [1, 10, 100] {
                _ = try await bed.open(for: .seconds(seconds))
                pairing.start()
                try await eventually { Self.isWaiting(pairing) || Self.failure(pairing) != nil }
                if Self.isWaiting(pairing) { break }
            }
            try await eventually(within: Patience.wait * 2) { Self.failure(pairing)?.code == .pairingClosed }
            #expect(Self.failure(pairing)?.message.contains("the time for pairing is over") == true)
            _ = try await bed.open()
            pairing.start()
            try await eventually { Self.isWaiting(pairing) }
            pairing.cancel()
            #expect(Self.failure(pairing)?.code == .cancelled && pairing.timeLeft == nil)
            pairing.enter("123456")
            #expect(Self.failure(pairing)?.code == .cancelled)
        }
    }
}
