// The matrix: filters, rows made a screenful at a time, a selection that keys move.

const FIRST = 60;
const CHUNK = 120;

const matrix = { shown: [], made: 0, body: null, selected: -1, work: 0, query: null };

const anyOf = (name, label, options) =>
  el("label", {}, el("span", {}, label),
    el("select", { name }, options.map(([value, text]) => el("option", { value }, text))));

function buildFilters() {
  const seen = (pick) => [...new Set(data.rows.flatMap(pick))].sort();
  const verdicts = [...new Set(data.rows.flatMap((row) => row.cells).filter(Boolean)
    .map(([word]) => word))].sort((one, other) => one - other);
  const form = byId("filters");
  form.append(
    el("label", { class: "search" }, el("span", {}, "Search"),
      el("input", { type: "search", name: "q", placeholder: "title, id, label, issue, error",
        autocomplete: "off", spellcheck: "false", "aria-keyshortcuts": "/" })),
    anyOf("verdict", "Verdict", [["", "any verdict"], ["person", "needs a person"],
      ["changed", "changed"], ["differs", "differs by release"],
      ...verdicts.map((word) => [words[word], words[word]])]),
    anyOf("release", "On", [["", "any release"],
      ...data.releases.map((name, number) => [String(number), name])]),
    anyOf("area", "Area", [["", "any area"], ...seen((row) => [row.area]).map((one) => [one, one])]),
    anyOf("kind", "Kind", [["", "any kind"], ...seen((row) => row.kinds).map((one) => [one, one])]),
    el("output", { id: "count", role: "status", "aria-live": "polite" }));
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    matrix.query = filterQuery();
    history.replaceState(null, "", overviewHash());
    refresh();
  });
}

function filterQuery() {
  const set = [...new FormData(byId("filters"))].filter(([, value]) => value);
  return String(new URLSearchParams(set));
}

const overviewHash = () => (matrix.query ? "#/?" + matrix.query : "#/");

function setFilters(query) {
  const wanted = new URLSearchParams(query);
  for (const field of byId("filters").elements) {
    if (!field.name) continue;
    field.value = wanted.get(field.name) ?? "";
    if (field.tagName === "SELECT" && field.selectedIndex < 0) field.value = "";
  }
}

function matches(row, form) {
  row.text ??= [row.id, row.title, row.area, ...row.kinds, ...row.tags, ...row.issue,
    ...row.cells.filter(Boolean).flatMap(([, briefs]) => Object.values(briefs))]
    .join(" ").toLowerCase();
  const release = form.release.value;
  const cells = (release === "" ? row.cells : [row.cells[release]]).filter(Boolean);
  const want = form.verdict.value;
  const judged = (cell) =>
    want === "person" ? !passes[cell[0]] : want === "changed" ? cell[2] : words[cell[0]] === want;
  return (!want || (want === "differs" ? differs(row) : cells.some(judged)))
    && (release === "" || cells.length > 0)
    && (!form.area.value || row.area === form.area.value)
    && (!form.kind.value || row.kinds.includes(form.kind.value))
    && form.q.value.toLowerCase().split(/\s+/).every((word) => row.text.includes(word));
}

function differs(row) {
  return new Set(row.cells.filter((cell) => cell && cell[1].stock)
    .map(([, briefs]) => briefs.stock)).size > 1;
}

function refresh() {
  const form = byId("filters").elements;
  matrix.shown = data.rows.filter((row) => matches(row, form));
  matrix.made = 0;
  matrix.selected = -1;
  matrix.body = el("tbody");
  const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "case"),
    data.releases.map((name) => el("th", { scope: "col" }, name))));
  const table = el("table", { class: "matrix" }, head, matrix.body);
  byId("cases").replaceChildren(matrix.shown.length ? table
    : el("p", { class: "quiet" }, "No case matches. Esc in the search box clears it."));
  const some = matrix.shown.length === data.rows.length ? "" : `${matrix.shown.length} of `;
  byId("count").value = `${some}${data.rows.length} cases`;
  makeRows(FIRST);
  makeRest();
}

function makeRows(count) {
  const rows = matrix.shown.slice(matrix.made, matrix.made + count);
  matrix.made += rows.length;
  matrix.body.append(...rows.map(rowElement));
}

function makeRest() {
  clearTimeout(matrix.work);
  if (matrix.made >= matrix.shown.length) return;
  matrix.work = setTimeout(() => {
    makeRows(CHUNK);
    makeRest();
  }, 30);
}

function rowElement(row) {
  const labels = [row.area, ...row.kinds, ...row.tags].filter(Boolean).join(" · ");
  return el("tr", {},
    el("th", { scope: "row" },
      el("a", { href: hashOf(row.id), class: "title" }, row.title || row.id),
      el("span", { class: "under" }, el("code", {}, row.id), " ", labels)),
    row.cells.map((cell, number) => cellElement(cell, data.releases[number])));
}

function cellElement(cell, release) {
  if (!cell) return el("td", { class: "none", "data-release": release }, "–");
  const [word, briefs, change] = cell;
  return el("td", { "data-release": release },
    el("span", { class: "word" }, verdict(word),
      change && el("span", { class: "kind k-" + change.replaceAll(" ", "_") }, change)),
    Object.entries(briefs).map(([arm, brief]) =>
      el("span", { class: "brief" }, el("span", { class: "arm" }, arm), " ", brief)));
}

function select(number) {
  if (!matrix.shown.length) return;
  const wanted = Math.max(0, Math.min(number, matrix.shown.length - 1));
  if (wanted >= matrix.made) makeRows(wanted + CHUNK - matrix.made);
  matrix.body.children[matrix.selected]?.classList.remove("selected");
  matrix.selected = wanted;
  const row = matrix.body.children[wanted];
  row.classList.add("selected");
  row.querySelector("a").focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

// Paper, and the browser's own search, want all of it.
addEventListener("beforeprint", () => makeRows(matrix.shown.length));
