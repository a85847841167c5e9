import Elemental
import Foundation
import TestSupport

@testable import ElementalObservation

struct Scene: Codable, Sendable, Equatable {
    var name: String
    var levels: [Double]
}

/// The elements of the tests' service.
enum Lamp {
    static let brightness = Element<Float>(1, "Brightness", range: 0...1)
    static let temperature = Element<Double>(2, "Temperature", access: .read)
    static let motion = Element<Vector3>(3, "Motion", transport: .udp)
    static let title = Element<String>(4, "Title")
    static let isOn = Element<Bool>(5, "On")
    static let mode = Element<UInt8>(6, "Mode", choices: [0: "off", 1: "warm", 2: "cold"])
    static let scene = Element<JSON<Scene>>(7, "Scene")
    static let picture = Element<Data>(8, "Picture")
    static let bytes = Element<[UInt8]>(9, "Bytes")
    static let int8 = Element<Int8>(10, "Int8")
    static let int16 = Element<Int16>(11, "Int16")
    static let uint16 = Element<UInt16>(12, "UInt16")
    static let int32 = Element<Int32>(13, "Int32")
    static let uint32 = Element<UInt32>(14, "UInt32")
    static let int64 = Element<Int64>(15, "Int64")
    static let uint64 = Element<UInt64>(16, "UInt64")
    static let plane = Element<Vector2>(17, "Plane")
    static let colour = Element<Vector4>(18, "Colour")
    static let matrix = Element<Matrix4x4>(19, "Matrix")
    static let channels = (0..<10).map { Element<Double>(100 + $0, "Channel \($0)") }
    private static let others: [ElementDefinition] = [
        brightness, temperature, motion, title, isOn, mode, scene, picture, bytes, int8, int16, uint16, int32, uint32,
        int64, uint64, plane, colour, matrix,
    ]
    static let all = (try? ElementCatalogue(others + channels)) ?? []

    /// Runs a service on loopback during the body.
    @MainActor
    static func with<Result>(
        port: Int = 0, elements: ElementCatalogue = all, security: ServiceSecurity = .open,
        _ body: (ElementalService) async throws -> Result
    ) async throws -> Result {
        var configuration = ServiceConfiguration()
        configuration.limits.handshakeTimeout = Patience.wait * 9
        configuration.address = "127.0.0.1"
        configuration.port = PortLease.again(port)
        configuration.isPublished = false
        configuration.security = security
        let service = ElementalService(
            "lamp", displayName: "Desk lamp", elements: elements, configuration: configuration)
        try await service.start()
        return try await carryOut {
            try await body(service)
        } finally: {
            await service.stop()
        }
    }

    /// A model of what is at a port of this machine.
    @MainActor
    static func model(
        at port: Int, elements: ElementCatalogue? = all, pace: ObservationPace = ObservationPace(),
        _ change: (inout ConnectOptions) -> Void = { _ in }
    ) -> ObservedDevice {
        var options = ConnectOptions.patient
        change(&options)
        return ObservedDevice(
            host: "127.0.0.1", port: port, as: "Test", elements: elements, options: options, pace: pace)
    }

    /// A model of a service of this process.
    @MainActor
    static func model(of service: ElementalService, hold: Duration = .seconds(60)) throws -> ObservedDevice {
        var pace = ObservationPace()
        pace.hold = hold
        guard let port = service.port else { throw TestSupportError("the service has no port") }
        return model(at: port, pace: pace)
    }

    /// A model that is connected, and has dealt with what follows a connection.
    @MainActor
    static func connectedModel(of service: ElementalService, hold: Duration = .seconds(60)) async throws
        -> ObservedDevice
    {
        let model = try model(of: service, hold: hold)
        try await eventually { model.state.isConnected && !model.isRoundUnderWay }
        return model
    }
}

/// Counts how often what a view reads is invalidated.
@MainActor
final class Watch {
    private(set) var count = 0
    private let read: @MainActor () -> Void

    /// - Parameter read: what the view reads.
    init(_ read: @escaping @MainActor () -> Void) {
        self.read = read
        observe()
    }

    private func observe() {
        withObservationTracking {
            read()
        } onChange: { [weak self] in
            // At once, so that no change is missed. Models change on the main actor only.
            MainActor.assumeIsolated {
                self?.count += 1
                self?.observe()
            }
        }
    }
}

/// What SwiftUI's `@Bindable` makes of a model.
@MainActor
@dynamicMemberLookup
struct Bindable<Model: AnyObject & Observable> {
    let model: Model

    subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Model, Value>) -> Binding<Model, Value> {
        Binding(model: model, keyPath: keyPath)
    }
}

@MainActor
struct Binding<Model: AnyObject, Value> {
    let model: Model
    let keyPath: ReferenceWritableKeyPath<Model, Value>

    var value: Value {
        get { model[keyPath: keyPath] }
        nonmutating set { model[keyPath: keyPath] = newValue }
    }
}

extension ObservedDevice {
    /// Why a value was not sent.
    func code(_ element: ElementDefinition) -> ElementalError.Code? {
        if case .notSent(let error) = failure(of: element) { error.code } else { nil }
    }
}

extension ConnectOptions {
    /// The defaults, with as much time as the slowest machine may need.
    static var patient: ConnectOptions {
        var options = ConnectOptions()
        options.timeout = Patience.wait
        return options
    }
}
