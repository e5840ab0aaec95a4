"""arrows.py [--renew]: which folder of PressureKit uses whose types; every arrow must point down, as in the drawing.

The compiler holds the arrows between modules; this holds those between the folders of the topmost. A folder uses another
when one of its files names a type that the other declares, or a member that only the extensions of the other declare. The
drawing in HowItDecides.md is made from that (--renew).
"""
import collections
import pathlib
import re
import sys

# From the bottom to the top, each with what it is; a folder uses those before it.
FOLDERS = {
    "Residency": "where a value is: the word of its state, its slot, its copy",
    "State": "the file of a saved state",
    "Admission": "whether there is room for a load",
    "Eviction": "candidates, plans, orders, the engine, what a cache is to it",
    "Caches": "values, one or by key",
    "Cleaning": "copies ahead, while nobody needs memory",
    "Controllers": "the tree, its hooks, and what it needs of a manager",
    "Restoration": "saves and restores the tree",
    "Metrics": "tells swift-metrics",
    "Control": "the control socket",
    "Manager": "composes the rest",
}

ROOT = pathlib.Path(__file__).resolve().parent.parent / "Sources" / "PressureKit"
ARTICLE = ROOT / "PressureKit.docc" / "HowItDecides.md"
DRAWING = re.compile(r"(?<=<!-- made by scripts/arrows.py --renew -->\n\n```text\n).*?(?=```\n)", re.S)
TYPES = r"\b(?:struct|class|enum|protocol|actor|typealias)\s+(\w+)"
EXTENSION = re.compile(r"^(?:\w+ )*extension ([A-Z]\w*).*?^}", re.M | re.S)
MEMBER = re.compile(r"^    (?! )(?:@\w+(?:\([^)]*\))?\s+)*(?:\w+ )*?(?:func|var) (\w+)", re.M)
# At the left margin, whatever stands before it.
TOPMOST = re.compile(r"^(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|final|indirect)\s+)*" + TYPES, re.M)


def code(path):
    """What a file says to the compiler, without its comments."""
    return "\n".join(line.split("//")[0] for line in path.read_text(encoding="utf-8").split("\n"))


def folder(path):
    return path.relative_to(ROOT).parts[0]


def uses_of(files):
    """For every pair of folders the names by which one uses the other, and how often."""
    owner = {name: folder(path) for path, text in files.items() for name in TOPMOST.findall(text)}
    declared = collections.defaultdict(set)
    for path, text in files.items():
        for name in MEMBER.findall(text):
            declared[name].add(folder(path))
    # What a folder adds to the types of another, or of another module; by a name that no other folder uses as well.
    added = {
        name: folder(path)
        for path, text in files.items()
        for block in EXTENSION.finditer(text)
        for name in MEMBER.findall(block[0])
        if owner.get(block[1]) != folder(path) and declared[name] == {folder(path)}
    }
    uses = collections.defaultdict(collections.Counter)
    for path, text in files.items():
        own = set(re.findall(TYPES, text))
        for name, count in collections.Counter(re.findall(r"\b[A-Z]\w+", text)).items():
            target = owner.get(name)
            if target and target != folder(path) and name not in own:
                uses[folder(path), target][name] += count
        # Called: as a member, or with arguments.
        for name, count in collections.Counter(re.findall(r"(?<=\.)[a-z]\w+|\b[a-z]\w+(?=\()", text)).items():
            target = added.get(name)
            if target and target != folder(path):
                uses[folder(path), target][name] += count
    return uses


def drawing(uses):
    """A line for each folder, the topmost first, with those that it uses most."""
    width = max(map(len, FOLDERS))
    lines = []
    for name, meaning in reversed(FOLDERS.items()):
        below = sorted((-sum(names.values()), target) for (source, target), names in uses.items() if source == name)
        arrows = ", ".join(target for _, target in below)
        lines.append(f"{name:<{width}}  {meaning}" + (f"\n{'':<{width}}  → {arrows}" if arrows else ""))
    return "\n".join(lines) + "\n"


files = {path: code(path) for path in sorted(ROOT.rglob("*.swift")) if path.parent != ROOT}
order = list(FOLDERS)
if unknown := {folder(path) for path in files} - set(order):
    sys.exit(f"arrows: {', '.join(sorted(unknown))}: no such folder in the drawing; give it a place in scripts/arrows.py")
uses = uses_of(files)
up = [(pair, names) for pair, names in sorted(uses.items()) if order.index(pair[1]) > order.index(pair[0])]
for (source, target), names in up:
    print(f"arrows: {source} is below {target} and uses " + ", ".join(f"{n} ({c})" for n, c in names.most_common()))
if up:
    sys.exit("arrows: move what is used down, or let the one below ask for it by a small protocol of its own")
text = ARTICLE.read_text(encoding="utf-8")
drawn = DRAWING.sub(lambda _: drawing(uses), text)
if "--renew" in sys.argv:
    ARTICLE.write_text(drawn, encoding="utf-8")
elif drawn != text:
    sys.exit("arrows: the drawing in HowItDecides.md is another; make it anew with: python3 scripts/arrows.py --renew")
print(f"arrows: {len(uses)} between {len(order)} folders, all of them down")
