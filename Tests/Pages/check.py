#!/usr/bin/env python3
"""Looks at pages as readers do: on a phone and on a desk, in light and in dark, by keyboard, on paper, without scripts.

check.py BROWSER SCREENSHOTS PAGE…: every PAGE is an HTML file. Prints what is wrong, and ends with 1 if anything is.
check.py BROWSER --self-test PAGE: breaks a good page in every way of breakages.py, and ends with 1 if any goes unnoticed.
"""

import pathlib
import sys
import time

from breakages import BREAKAGES, MISDEEDS
from browser import Browser, Tab

SCREENS = {"phone": (390, 844), "desk": (1280, 800)}
CHECKS = (pathlib.Path(__file__).parent / "checks.js").read_text()


def tall(tab, width):
    """Makes the screen as high as the page: what is outside of it cannot be asked for."""
    height = tab.evaluate("document.documentElement.scrollHeight")
    tab.call("Emulation.setDeviceMetricsOverride", width=width, height=min(height + 50, 16000), deviceScaleFactor=1,
             mobile=width < 600)


def look(browser, page, screenshots):
    """All that is wrong with a page."""
    url = page.resolve().as_uri()
    complaints = []
    texts = {}
    for screen, (width, height) in SCREENS.items():
        for scheme in ["light", "dark"]:
            tab = Tab(browser, url, width, height, scheme)
            where = f"{page.stem}, {screen}, {scheme}"
            complaints += [f"{where}: {line}" for line in overflow(tab)]
            tab.screenshot(screenshots / f"{page.stem}-{screen}-{scheme}.png")
            tall(tab, width)
            complaints += [f"{where}: {line}" for line in tab.evaluate(CHECKS)]
            paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
            texts[scheme] = paper
            # All that can be opened, open: tables are where rows grow wide.
            tab.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
            tall(tab, width)
            complaints += [f"{where}, all open: {line}" for line in tab.evaluate(CHECKS)]
            if scheme == "light":
                complaints += [f"{where}: {line}" for line in by_keyboard(tab)]
            complaints += [f"{where}: {line}" for line in tab.reports()]
            tab.close()
    if texts["light"] == texts["dark"]:
        complaints.append(f"{page.stem}: light and dark have the same paper")
    complaints += [f"{page.stem}: {line}" for line in without_scripts(browser, url)]
    complaints += [f"{page.stem}: {line}" for line in on_paper(browser, url, screenshots / f"{page.stem}-print.png")]
    return complaints


def overflow(tab):
    """The first look, on the screen as it is."""
    wide = tab.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return [f"overflow: {wide[0]} pixels on {wide[1]}"] if wide[0] > wide[1] else []


def by_keyboard(tab):
    """Whether every chart, table, link and summary is reached with the tab key, is seen to be, and answers arrows."""
    complaints = []
    tab.evaluate("document.querySelectorAll('details').forEach(details => details.open = false); window.scrollTo(0, 0)")
    wanted = tab.evaluate(
        "[...document.querySelectorAll('svg[role=img],a[href],summary')].filter(e => e.checkVisibility()).length")
    reached = set()
    for _ in range(wanted * 3 + 20):
        tab.press("Tab")
        focus = tab.evaluate("""(() => {
            const element = document.activeElement;
            if (!element || element === document.body) return null;
            window.seen ??= new Map();
            if (!window.seen.has(element)) window.seen.set(element, window.seen.size);
            const style = getComputedStyle(element);
            return { number: window.seen.get(element), tag: element.tagName.toLowerCase(),
                     name: element.id || element.textContent.trim().slice(0, 30),
                     isMarked: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
                     isWanted: element.matches("svg[role=img],a[href],summary") };
        })()""")
        if focus is None or focus["number"] in reached and focus["number"] == 0:
            break
        if focus["number"] in reached:
            continue
        reached.add(focus["number"])
        if not focus["isMarked"]:
            complaints.append(f"focus: {focus['tag']} \"{focus['name']}\" does not show it")
        if focus["isWanted"]:
            wanted -= 1
        if focus["tag"] == "svg":
            complaints += arrows(tab, focus["name"])
    if wanted > 0:
        complaints.append(f"keyboard: {wanted} charts, links or summaries are out of the tab key's reach")
    return complaints


def arrows(tab, name):
    """Whether the arrow keys read values, where the chart's table knows its rows' places."""
    readout = """(() => {
        const figure = document.activeElement.closest("figure[data-readout]");
        return figure ? figure.querySelector(".readout").textContent : null;
    })()"""
    before = tab.evaluate(readout)
    if before is None:
        return []
    tab.press("End")
    last = tab.evaluate(readout)
    tab.press("Home")
    first = tab.evaluate(readout)
    tab.press("ArrowRight")
    second = tab.evaluate(readout)
    if len({before, last, first, second}) != 4 and tab.evaluate(
            "document.activeElement.closest('figure').querySelectorAll('tr[data-at]').length") > 2:
        return [f"arrows: {name} says {[before, last, first, second]}"]
    return []


def without_scripts(browser, url):
    """Whether the page is complete without its script."""
    text = "document.querySelector('main').innerText"
    counts = "[...document.querySelectorAll('svg[role=img],table,h2')].length"
    plain = Tab(browser, url, 1280, 800, scripts=False)
    bare = (plain.evaluate(text), plain.evaluate(counts))
    hints = plain.evaluate("document.querySelectorAll('.readout').length")
    plain.close()
    scripted = Tab(browser, url, 1280, 800)
    scripted.evaluate("document.querySelectorAll('.readout').forEach(readout => readout.remove())")
    whole = (scripted.evaluate(text), scripted.evaluate(counts))
    scripted.close()
    complaints = [] if hints == 0 else ["scripts: they ran although they were off: this test shows nothing"]
    if [line.strip() for line in bare[0].split()] != [line.strip() for line in whole[0].split()] or bare[1] != whole[1]:
        complaints.append("scripts: without them the page says less")
    return complaints


def on_paper(browser, url, screenshot):
    """Whether a dark screen prints dark ink on light paper, and no line is cut off."""
    tab = Tab(browser, url, 794, 1123, "dark", media="print")
    complaints = [f"print: {line}" for line in overflow(tab)]
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)")
    if min(paper) < 240:
        complaints.append(f"print: the paper is {paper}")
    tab.screenshot(screenshot)
    if len(tab.call("Page.printToPDF", printBackground=True)["data"]) < 10_000:
        complaints.append("print: the PDF is empty")
    tab.close()
    return complaints


def self_test(browser, page):
    """The breakages that no check notices."""
    url = page.resolve().as_uri()
    unnoticed = []
    for rule, script in BREAKAGES:
        tab = Tab(browser, url, 1280, 800)
        before = tab.evaluate(CHECKS)
        tab.evaluate(script)
        tall(tab, 1280)
        found = [line for line in tab.evaluate(CHECKS) + overflow(tab) if line.startswith(rule)]
        if before or not found:
            unnoticed.append(f"{rule}: {script}" if not before else f"the page is not good to begin with: {before[0]}")
        tab.close()
    for rule, script in MISDEEDS:
        tab = Tab(browser, url, 1280, 800)
        tab.evaluate(script + "; 0")
        deadline = time.monotonic() + 10
        while not any(line.startswith(rule) for line in tab.reports()):
            if time.monotonic() > deadline:
                unnoticed.append(f"{rule}: {script}")
                break
            browser.call("Browser.getVersion")  # reads what was reported meanwhile
        tab.close()
    return unnoticed


def main():
    if sys.argv[2:3] == ["--self-test"]:
        with Browser(sys.argv[1]) as browser:
            unnoticed = self_test(browser, pathlib.Path(sys.argv[3]))
        print(f"{len(BREAKAGES) + len(MISDEEDS) - len(unnoticed)} of {len(BREAKAGES) + len(MISDEEDS)} breakages noticed")
        for line in unnoticed:
            print(f"    unnoticed: {line}")
        sys.exit(1 if unnoticed else 0)
    executable, screenshots, *pages = sys.argv[1:]
    screenshots = pathlib.Path(screenshots)
    screenshots.mkdir(parents=True, exist_ok=True)
    if not pages:
        sys.exit("check.py: no page to look at")
    failed = 0
    with Browser(executable) as browser:
        for page in map(pathlib.Path, pages):
            complaints = look(browser, page, screenshots)
            failed += bool(complaints)
            print(f"{'✗' if complaints else '✓'} {page.stem}")
            for line in sorted(set(complaints)):
                print(f"    {line}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
