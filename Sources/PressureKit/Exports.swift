// The vocabulary that users of this module need is theirs with it.
@_exported public import PressureSignals
@_exported public import PressureSystem
@_exported public import SpillStore
