import ElementalMicro

/// A device's service, beside Elemental's of the same name.
typealias ElementalMicroService = ElementalService
