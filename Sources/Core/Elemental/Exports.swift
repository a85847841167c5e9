// One import is enough for programs that publish, find and control: elements, their values and catalogues. The wire
// format stays in ElementalWire, so that its names (Envelope, Hello) remain free for a user's program.
@_exported public import class ElementalHistory.ServiceHistories
@_exported public import struct ElementalSecurity.Ed25519Identity
@_exported public import struct ElementalSecurity.FileTrustStore
@_exported public import struct ElementalSecurity.Fingerprint
@_exported public import protocol ElementalSecurity.Identity
@_exported public import enum ElementalSecurity.IdentityKey
@_exported public import class ElementalSecurity.InMemoryTrustStore
@_exported public import struct ElementalSecurity.PairingSecret
@_exported public import struct ElementalSecurity.SecurityError
@_exported public import struct ElementalSecurity.SecurityState
@_exported public import struct ElementalSecurity.TrustRevision
@_exported public import protocol ElementalSecurity.TrustStore
@_exported public import struct ElementalSecurity.TrustedClient
@_exported public import struct ElementalSecurity.TrustedPeers
@_exported public import struct ElementalSecurity.TrustedService
@_exported public import struct ElementalWire.Access
@_exported public import protocol ElementalWire.AnyElement
@_exported public import class ElementalWire.Element
@_exported public import struct ElementalWire.ElementCatalogue
@_exported public import struct ElementalWire.ElementChoice
@_exported public import struct ElementalWire.ElementChoices
@_exported public import class ElementalWire.ElementDefinition
@_exported public import protocol ElementalWire.ElementRepresentable
@_exported public import enum ElementalWire.ElementType
@_exported public import enum ElementalWire.ElementValue
@_exported public import struct ElementalWire.HistoryGap
@_exported public import struct ElementalWire.HistoryLimits
@_exported public import struct ElementalWire.HistoryPosition
@_exported public import struct ElementalWire.JSON
@_exported public import struct ElementalWire.Matrix4x4
@_exported public import enum ElementalWire.Role
@_exported public import enum ElementalWire.SecurityPolicy
@_exported public import enum ElementalWire.Transport
@_exported public import struct ElementalWire.ValueRefusal
@_exported public import typealias ElementalWire.Vector2
@_exported public import typealias ElementalWire.Vector3
@_exported public import typealias ElementalWire.Vector4
@_exported public import struct ElementalWire.WireError

#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
@usableFromInline typealias Data = FoundationEssentials.Data
#else
public import struct Foundation.Data
@usableFromInline typealias Data = Foundation.Data
#endif
