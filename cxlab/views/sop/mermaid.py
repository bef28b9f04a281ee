"""A procedure as text of Mermaid."""

from cxlab.records.procedure import Procedure


def to_mermaid(found: Procedure) -> str:
    """The procedure as a Mermaid flowchart: stages as boxes, actions as rounded ends, values on the arrows."""
    lines = ["flowchart LR"]
    lines += [f'    {stage}["{_quote(found.name(stage))}"]' for stage in found.stages]
    lines += [f'    {_node_id(action)}(["{_quote(action)}"])' for action in found.actions]
    for edge in found.edges:
        label = "; ".join(branch.short for branch in edge.branches if branch.short)
        arrow = f'-- "{_quote(label)}" -->' if label else "-->"
        lines.append(f"    {edge.source} {arrow} {_node_id(edge.target) if edge.ends else edge.target}")
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    return text.replace('"', "#quot;")


def _node_id(action: str) -> str:
    # Prefixed, so that an action can bear a word that Mermaid keeps for itself ("end").
    return "action_" + "".join(char if char.isalnum() else "_" for char in action)
