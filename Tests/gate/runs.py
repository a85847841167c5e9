"""What distinguishes one run of tests from another."""

import dataclasses

import needs
import places


@dataclasses.dataclass(frozen=True)
class Run:
    """The conditions under which tests run: what they have, and what they may skip."""

    # The steps besides the gate, by the names of rest.STEPS. With "long" the modules run their long tests too.
    steps: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    sanitizer: str | None = None
    # Whether the tests are programs for 64-bit ARM, under QEMU.
    is_arm64: bool = False
    cores: int = places.CORES

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the tests' processes."""
        return {"ELEMENTAL_TEST_DEPTH": "all"} if "long" in self.steps else {}

    @property
    def needs(self) -> list[needs.Need]:
        """What is installed for it."""
        return [need for need in needs.NEEDS if self.has(need.name)]

    def has(self, name: str) -> bool:
        """Whether a need is wanted."""
        step = needs.BY_NAME[name].step
        return name not in self.without and (step is None or step in self.steps)

    def allows(self, condition: str) -> bool:
        """Whether a condition of Tests/skips holds."""
        match condition.split():
            case ["always"]:
                return True
            case ["gate"]:
                return "long" not in self.steps
            case ["one-core"]:
                return self.cores == 1
            case ["arm64"]:
                return self.is_arm64
            case ["sanitizer"]:
                return self.sanitizer is not None
            case ["sanitizer", name]:
                return self.sanitizer == name
            case ["without", name] if name in needs.BY_NAME:
                return not self.has(name)
            case ["without", name] if name in needs.PERMISSIONS:
                return name in self.without
        raise ValueError(f"there is no condition '{condition}'")
