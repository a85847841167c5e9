// One import is enough for a program with models: elements, services, and the Observation framework.
@_exported public import Elemental
@_exported public import Observation
