import Foundation
import TestSupport
import Testing

@testable import CommodoreGateway
@testable import Elemental
@testable import ElementalCLI
@testable import ElementalRecording
@testable import ElementalSecurity
@testable import ElementalWire
@testable import MQTT
@testable import SignalR
@testable import WebServer
@testable import Zeroconf

/// Which exit status each code has. A code that is on no line fails the test: decide its status here and in `CommandStatus`.
struct ExitStatusTableTests {
    private static let table: [Int32: String] = [
        1: """
        addressInUse addressUnavailable alreadyStarted ambiguous bufferOverflow cancelled \
        catalogueMismatch catalogueUnavailable certificate closedByBroker closedByPeer closedByServer \
        closedHere compressed connectionFailed connectionLost corrupt daemonUnavailable damaged \
        discoveryFailed diskFull duplicateElement failed fileExists full incomplete inputOutput insecure \
        invalidAddress invalidArgument invalidCatalogue invalidCertificate invalidDefinition invalidFile \
        invalidName invalidOptions invalidPeer invalidPiece invalidPort invalidProgram invalidResult \
        invalidState invalidText invalidTopic invalidTXTRecord invalidType invalidURL invocationFailed \
        limitReached lineUnavailable listeningFailed locked messageTooLarge missing nameConflict \
        negotiationFailed networkError noAddressSpace noDescriptors noStateDirectory noTerminal noThreads \
        noTransport notConnected notMCAP notSent nothingToReplay other otherMachine ownKey pairingChanged \
        passwordUnavailable permissionDenied portTaken protocolViolation queueFull readOnly reconnecting \
        removed shutDown stopped system testFailed tlsFailed tooLarge udpUnavailable unhealthy \
        unsupportedKey valueTooLarge
        """,
        2: """
        datagramTooLarge emptyValue handshakeFailed identifierRejected invalidValue nameTaken notAllowed \
        outOfRange pairingClosed refused serverUnavailable subscriptionRefused unacceptableVersion \
        wrongType
        """,
        3: "hostNotFound noSuchFile notFound serviceNotFound unknownAlias unknownElement unknownPeer",
        4: "badCredentials notAuthorised notPaired unauthenticated wrongCode",
        5: "serverTimeout timedOut",
        6: "alreadyPinned identityChanged replaced",
        64: "usage",
    ]

    /// Every code that the modules' errors have.
    private static let codesOfErrors: [String] = {
        let modules: [[String]] = [
            names(ElementalError.Code.Value.self), names(GatewayError.Code.Value.self),
            names(SecurityError.Code.Value.self), names(SignalRError.Code.Value.self),
            names(MQTTError.Code.Value.self), names(ZeroconfError.Code.Value.self),
            names(RecordingError.Code.Value.self), names(WebServerError.Code.self),
            WireError.Code.Value.allCases.map(\.rawValue), reasons.map(\.code),
        ]
        return Array(modules.joined())
    }()

    private static func names<Code: CaseIterable>(_ type: Code.Type) -> [String] { type.allCases.map { "\($0)" } }

    private static let reasons: [DisconnectReason] = [
        .closedHere, .closedByPeer, .shutDown(""), .timedOut(""), .protocolViolation(""), .limitReached(""),
        .catalogueMismatch(""), .invalidCatalogue(""), .pairingChanged, .networkError(""), .cancelled,
    ].map { DisconnectReason($0, isExpected: false) }

    /// Every code that the command line itself makes up.
    private static func codesOfCommands() throws -> [String] {
        let folder = URL(filePath: Repository.path("Sources/Tools/ElementalCLI"))
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.flatMap { file in
            try String(contentsOf: file, encoding: .utf8).matches(of: /CommandFailure\(\s*"(\w+)"/).map { String($0.1) }
        }
    }

    @Test
    func everyCodeHasADecidedStatus() throws {
        var statuses: [String: Int32] = [:]
        for (status, codes) in Self.table {
            for code in codes.split(separator: " ") {
                #expect(statuses.updateValue(status, forKey: String(code)) == nil, "\(code) is there twice")
            }
        }
        for (code, status) in statuses { #expect(CommandStatus(code: code).rawValue == status, "\(code)") }
        let commands = try Self.codesOfCommands()
        #expect(commands.count > 50)
        for code in Self.codesOfErrors + commands { #expect(statuses[code] != nil, "\(code) has no status") }
    }

    @Test(
        arguments: [
            (["refused", "identityChanged", "notPaired"], "identityChanged"), (["timedOut", "notPaired"], "notPaired"),
            (["failed", "timedOut", "unknownElement"], "unknownElement"), (["outOfRange", "timedOut"], "timedOut"),
            (["failed", "refused"], "refused"), (["notConnected"], "notConnected"), ([], nil),
        ] as [([String], String?)])
    func ofSeveralFailuresTheGravestDecides(_ codes: [String], _ decisive: String?) {
        #expect(CommandStatus.decisive(codes) == decisive)
        #expect(codes.map { CommandFailure($0, "") }.decisive?.code == decisive)
    }
}
