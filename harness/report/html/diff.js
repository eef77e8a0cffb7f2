// Two texts side by side, folded where nothing differs, with the lines that an error is about.

const CONTEXT = 3;
const FOLD = 10;

function sideBySide(sides) {
  const marks = new Set(sides.marks);
  const body = el("tbody");
  const table = el("table", { class: "diff" },
    el("colgroup", {}, el("col", { class: "no" }), el("col"), el("col", { class: "no" }), el("col")),
    el("thead", {}, el("tr", {}, el("th", { scope: "col", colspan: "2" }, sides.names[0]),
      el("th", { scope: "col", colspan: "2" }, sides.names[1]))), body);
  for (const op of sides.ops) addBlock(body, sides, op, marks);
  if (!sides.right.length) {
    sides.left.forEach((text, number) => body.append(lineRow([number, text], null, marks, "left")));
  }
  return el("figure", {},
    el("figcaption", {}, sides.message
      ? el("p", { class: "guilty" }, "▶ marks what this is about: ", el("q", {}, sides.message)) : ""),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": sides.title }, table));
}

function addBlock(body, sides, [tag, i1, i2, j1, j2], marks) {
  const at = (lines, number, end) => (number < end ? [number, lines[number]] : null);
  const rows = [];
  for (let n = 0; n < Math.max(i2 - i1, j2 - j1); n++) {
    const pair = [at(sides.left, i1 + n, i2), at(sides.right, j1 + n, j2)];
    rows.push(() => lineRow(...pair, marks, "right", tag !== "e"));
  }
  const marked = [...marks].some((number) => number >= j1 && number < j2);
  if (tag !== "e" || rows.length < FOLD || marked) {
    body.append(...rows.map((make) => make()));
    return;
  }
  const middle = rows.slice(CONTEXT, -CONTEXT);
  const fold = el("tr", { class: "fold" }, el("td", { colspan: "4" },
    el("button", { type: "button" }, `${middle.length} lines that are the same`)));
  fold.querySelector("button").addEventListener("click", () => {
    fold.replaceWith(...middle.map((make) => make()));
  });
  body.append(...rows.slice(0, CONTEXT).map((make) => make()), fold,
    ...rows.slice(-CONTEXT).map((make) => make()));
}

function lineRow(left, right, marks, markedSide, changed = false) {
  const marked = markedSide === "right" ? right : left;
  const guilty = marked !== null && marks.has(marked[0]) && markedSide;
  const [was, is] = changed && left && right ? inside(left[1], right[1]) : [left?.[1], right?.[1]];
  return el("tr", {},
    numberCell(left, guilty === "left"), textCell(was, left, changed && "del", guilty === "left"),
    numberCell(right, guilty === "right"), textCell(is, right, changed && "ins", guilty === "right"));
}

const numberCell = (line, guilty) =>
  el("td", { class: guilty ? "no guilty" : "no" }, line ? (guilty ? "▶ " : "") + (line[0] + 1) : "");

function textCell(content, line, kind, guilty) {
  if (!line) return el("td", { class: "void" });
  // The word is there for those who do not see the colour.
  return el("td", { class: [kind, guilty && "guilty"].filter(Boolean).join(" ") || undefined },
    kind && el("span", { class: "sr" }, kind === "ins" ? "added: " : "removed: "), content);
}

// The parts of two lines that differ, between what they begin and end with in common.
function inside(left, right) {
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start++;
  let end = 0;
  while (end < shorter - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  if (start + end < shorter / 3) return [left, right];
  const split = (text) => [text.slice(0, start), el("mark", {}, text.slice(start, text.length - end)),
    text.slice(text.length - end)];
  return [split(left), split(right)];
}
