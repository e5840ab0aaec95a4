"""api.py SYMBOLGRAPH…: what a module's public interface is, from its symbol graphs: a line for each symbol, sorted."""
import json
import sys

lines = set()
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        graph = json.load(file)
    names = {}
    for symbol in graph["symbols"]:
        identifier = symbol["identifier"]["precise"]
        # What a protocol's extension gives to a type is listed where it is written.
        if "::SYNTHESIZED::" in identifier:
            continue
        name = ".".join(symbol["pathComponents"])
        names[identifier] = name
        declaration = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
        extension = symbol.get("swiftExtension", {})
        constraints = ", ".join(
            "{lhs} {kind} {rhs}".format(**one).replace("conformance", ":").replace("sameType", "==").replace("superclass", ":")
            for one in extension.get("constraints", [])
        )
        where = f"  [where {constraints}]" if constraints else ""
        lines.add(f"{name}: {' '.join(declaration.split())}{where}")
    for relation in graph["relationships"]:
        if relation["kind"] != "conformsTo" or "::SYNTHESIZED::" in relation["source"]:
            continue
        target = names.get(relation["target"]) or relation.get("targetFallback", "").removeprefix("Swift.")
        source = names.get(relation["source"])
        # Copyable and Escapable are there unless a declaration takes them away.
        if source and target and target not in ("Copyable", "Escapable", "SendableMetatype"):
            conditions = ", ".join(f"{one['lhs']}: {one['rhs']}" for one in relation.get("swiftConstraints", []))
            lines.add(f"{source} : {target}" + (f"  [where {conditions}]" if conditions else ""))
print("\n".join(sorted(lines)))
