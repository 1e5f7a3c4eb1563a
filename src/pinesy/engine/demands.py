"""Which subsets of which domains are needed, found from the outputs back to the inputs."""

from collections.abc import Collection, Sequence

from pinesy.engine.circuit import Facet
from pinesy.engine.code import RuleUnit
from pinesy.engine.kind import Kind
from pinesy.engine.template import Template, rule_template
from pinesy.rules.attributes import Attribute


class Demands:
    """Which subsets of which domains are needed, from the outputs back to the inputs."""

    def __init__(
        self,
        units: Sequence[RuleUnit],
        kinds: dict[str, Kind],
        outputs: Sequence[Attribute],
        degrees: Collection[str],
    ) -> None:
        self.masks: dict[str, set[int]] = {}
        self.templates: dict[str, Template] = {}
        self.with_degrees = degrees
        used = {a.name for u in units for a in u.inputs} | {a.name for a in outputs}
        for attribute in outputs:
            singletons = (1 << i for i in range(len(attribute.domain)))
            self.masks.setdefault(attribute.name, set()).update(singletons)
        for unit in reversed(units):
            name = unit.output.name
            template = rule_template(kinds[name], self.of(name), name in degrees, name in used)
            self.templates[name] = template
            for leaf in template.leaves:
                if isinstance(leaf, Facet):
                    attribute = unit.inputs[leaf.attribute]
                    self.masks.setdefault(attribute.name, set()).add(leaf.mask)

    def of(self, name: str) -> tuple[int, ...]:
        """Return the subsets wanted of an attribute, in a fixed order."""
        return tuple(sorted(self.masks.get(name, ())))
