// What is wrong with the page that is shown: a list of sentences, none if all is well.
// The rules are those of WCAG 2.2 that a program can decide, and the house's: nothing smaller than 11 pixels, nothing
// wider than the screen.
(() => {
  const complaints = [];
  const complain = (rule, element, text) => {
    const name = element ? ` <${element.tagName.toLowerCase()}${element.id ? " #" + element.id : ""}>` : "";
    const words = element ? ` "${element.textContent.trim().replace(/\s+/g, " ").slice(0, 40)}"` : "";
    complaints.push(`${rule}:${name}${words} ${text}`);
  };
  const all = selector => [...document.querySelectorAll(selector)];
  const isShown = element => element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true });

  // Language, title, landmarks.
  const root = document.documentElement;
  if (!root.lang) complain("language", root, "has none");
  if (!document.title.trim()) complain("title", root, "is empty");
  for (const landmark of ["main", "body > header", "body > footer", "nav[aria-label]"]) {
    if (all(landmark).length !== 1) complain("landmark", null, `${all(landmark).length} of ${landmark}`);
  }

  // Headings: one of the first level, and none skips a level.
  let level = 0;
  for (const heading of all("h1,h2,h3,h4,h5,h6")) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1) complain("heading", heading, `follows one of level ${level}`);
    if (!heading.textContent.trim()) complain("heading", heading, "is empty");
    level = own;
  }
  if (all("h1").length !== 1) complain("heading", null, `${all("h1").length} of the first level`);

  // Identifiers.
  const ids = all("[id]").map(element => element.id);
  for (const id of new Set(ids)) {
    if (ids.filter(other => other === id).length > 1) complain("identifier", document.getElementById(id), "is not unique");
  }
  for (const element of all("[aria-labelledby],[aria-describedby]")) {
    const value = element.getAttribute("aria-labelledby") ?? element.getAttribute("aria-describedby");
    for (const id of value.split(" ")) {
      if (!document.getElementById(id)?.textContent.trim()) complain("name", element, `refers to ${id}, which says nothing`);
    }
  }
  for (const link of all("a[href^='#']")) {
    if (!document.getElementById(link.hash.slice(1))) complain("link", link, "leads nowhere");
    if (!link.textContent.trim()) complain("link", link, "has no text");
  }
  for (const link of all("[href],[src]")) {
    if (!/^(#|data:)/.test(link.getAttribute("href") ?? link.getAttribute("src"))) complain("request", link, "leads outside");
  }

  // Charts: a name, a description, a place in the tab order, the same as a table.
  for (const svg of all("svg")) {
    if (svg.closest("[aria-hidden='true']") || svg.parentElement.closest("svg")) continue;
    if (svg.getAttribute("role") !== "img") complain("chart", svg, "is neither an image nor hidden");
    if (!svg.hasAttribute("aria-labelledby")) complain("chart", svg, "has no name");
    if (svg.tabIndex !== 0) complain("chart", svg, "cannot be focused");
    if (!svg.querySelector(":scope > title") || !svg.querySelector(":scope > desc")) complain("chart", svg, "lacks title or desc");
    if (!svg.closest("figure")?.querySelector("details table")) complain("chart", svg, "is not there as a table");
  }
  for (const figure of all("figure")) {
    if (!figure.querySelector("figcaption")) complain("figure", figure, "has no caption");
  }

  // Tables, lists, details, regions.
  for (const table of all("table")) {
    if (!table.caption?.textContent.trim()) complain("table", table, "has no caption");
    if (table.querySelector("th:not([scope])")) complain("table", table, "has a header without a scope");
    const widths = new Set([...table.rows].map(row => row.cells.length));
    if (widths.size !== 1) complain("table", table, "has rows of different lengths");
  }
  for (const list of all("ul,ol")) {
    if ([...list.children].some(child => child.tagName !== "LI")) complain("list", list, "has other children than items");
  }
  for (const details of all("details")) {
    if (details.firstElementChild?.tagName !== "SUMMARY") complain("details", details, "has no summary");
  }
  for (const region of all("[role=region]")) {
    if (!region.getAttribute("aria-label")) complain("region", region, "has no name");
  }
  for (const scroller of all("*")) {
    if (!isShown(scroller) || scroller.closest("svg") || scroller === root) continue;
    const style = getComputedStyle(scroller);
    const scrolls = /auto|scroll/.test(style.overflowX) && scroller.scrollWidth > scroller.clientWidth + 1;
    if (scrolls && scroller.tabIndex !== 0) complain("scroll", scroller, "scrolls, but not by keyboard");
  }

  // Nothing wider than the screen, and nothing cut off beside it.
  if (root.scrollWidth > root.clientWidth) complain("overflow", null, `${root.scrollWidth} of ${root.clientWidth} pixels`);
  for (const element of all("body *")) {
    if (!isShown(element) || element.closest(".scroll table, .unseen, defs")) continue;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && (box.right > root.clientWidth + 1 || box.left < -1)) {
      complain("overflow", element, `from ${Math.round(box.left)} to ${Math.round(box.right)}`);
    }
  }

  // A chart's text keeps inside the figure, whose neighbour may be another one.
  for (const text of all("figure .plot text")) {
    const box = text.getBoundingClientRect(), room = text.closest("figure").getBoundingClientRect();
    if (box.width > 0 && (box.right > room.right + 1 || box.left < room.left - 1)) {
      complain("inside", text, `from ${Math.round(box.left - room.left)} to ${Math.round(box.right - room.left)} of ${Math.round(room.width)}`);
    }
  }

  // What happened at one moment has a glyph, a word and a line that ends at its moment; none lies on another.
  for (const plot of all(".plot")) {
    const glyphs = [];
    for (const moment of plot.querySelectorAll(".moment")) {
      // Of a group within a drawing, checkVisibility does not tell.
      if (getComputedStyle(moment).display === "none") continue;
      const glyph = moment.querySelector("path"), word = moment.querySelector("text");
      const lines = [...moment.querySelectorAll("line")].map(line => line.getBoundingClientRect());
      if (!glyph || !word?.textContent.trim() || lines.length < 2) { complain("moment", moment, "lacks a glyph, a word or a line"); continue; }
      const box = glyph.getBoundingClientRect(), middle = box.left + box.width / 2, end = lines[1].left;
      if (Math.min(Math.abs(lines[0].left - middle), Math.abs(lines[0].right - middle)) > 1) complain("moment", moment, "has a line from elsewhere");
      if (Math.min(Math.abs(lines[0].left - end), Math.abs(lines[0].right - end)) > 1) complain("moment", moment, "has a line to elsewhere");
      if (glyphs.some(other => Math.abs(other - middle) < 11)) complain("moment", moment, "lies on another");
      glyphs.push(middle);
    }
  }

  // An option's name is one word.
  for (const option of all("code.option")) {
    if (isShown(option) && option.getClientRects().length > 1) complain("word", option, "is broken");
  }

  // Colours as [red, green, blue, alpha], each 0 … 1.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colours = new Map();
  const colour = text => {
    if (!colours.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      colours.set(text, [...canvas.getImageData(0, 0, 1, 1).data].map(part => part / 255));
    }
    return colours.get(text);
  };
  const over = (top, bottom) => [0, 1, 2].map(part => top[part] * top[3] + bottom[part] * (1 - top[3])).concat(1);
  const luminance = rgb => {
    const [red, green, blue] = rgb.map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const isSVG = element => element instanceof SVGElement;
  // What is painted under a place, from the paper up to the text, shapes of charts included.
  const background = (element, x, y) => {
    const stack = document.elementsFromPoint(x, y);
    const below = stack.slice(stack.indexOf(element) + 1).reverse();
    let result = colour(getComputedStyle(document.body).backgroundColor);
    for (const layer of below) {
      const style = getComputedStyle(layer);
      const isShape = ["rect", "path", "circle"].includes(layer.tagName);
      const paint = isSVG(layer) ? (isShape ? style.fill : "none") : style.backgroundColor;
      if (paint === "none" || paint.startsWith("url")) continue;
      const [red, green, blue, alpha] = colour(paint);
      result = over([red, green, blue, alpha * Number(style.opacity)], result);
    }
    return result;
  };

  // Text: not too small, and not too faint for what it stands on.
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let texts = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !isShown(element)) continue;
    if (element.closest("script,style,title,desc,defs,.unseen,.skip")) continue;
    texts += 1;
    const style = getComputedStyle(element);
    if (parseFloat(style.fontSize) < 11) complain("size", element, style.fontSize);
    range.selectNodeContents(walker.currentNode);
    const box = range.getClientRects()[0];
    if (!box) continue;
    const text = colour(isSVG(element) ? style.fill : style.color);
    const paper = background(element, box.left + box.width / 2, box.top + box.height / 2);
    const ratio = contrast(over(text, paper), paper);
    if (ratio < 4.5) complain("contrast", element, `${ratio.toFixed(2)} to 1`);
  }
  if (texts < 20) complain("text", null, `only ${texts} pieces: is this the page?`);
  return complaints;
})()
