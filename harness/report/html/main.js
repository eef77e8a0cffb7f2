// Which page is shown, and the keys.

const caseNumbers = new Map(data.rows.map((row, number) => [row.id, number]));
let opened = null;

function asked() {
  const match = /^#\/case\/(.*)$/s.exec(location.hash);
  if (!match) return null;
  try {
    return decodeURIComponent(match[1]);
  } catch {
    return match[1];
  }
}

async function route() {
  if (location.hash === "#main") return; // the link for those who skip what is above the cases
  const id = asked();
  if (id === null) {
    const before = opened;
    opened = null;
    byId("case").hidden = true;
    byId("overview").hidden = false;
    document.title = `tvm-repro: ${data.rows.length} cases`;
    const query = location.hash.startsWith("#/?") ? location.hash.slice(3) : "";
    if (matrix.query !== query) {
      matrix.query = query;
      setFilters(query);
      refresh();
    }
    const at = matrix.shown.findIndex((row) => row.id === before);
    if (at >= 0) select(at);
    return;
  }
  const number = caseNumbers.get(id);
  opened = id;
  const parts = number === undefined
    ? [el("p", { class: "path" }, link("All cases", "#/")),
      el("h2", { tabindex: "-1" }, "No such case in these results"), el("code", {}, id)]
    : await casePage(number);
  if (opened !== id) return; // somebody was faster
  byId("overview").hidden = true;
  byId("case").hidden = false;
  byId("case").replaceChildren(...parts);
  document.title = `${id} · tvm-repro`;
  scrollTo(0, 0);
  byId("case").querySelector("h2").focus({ preventScroll: true });
}

const typing = (target) => target.matches("input[type=search], select, textarea");

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const action = opened === null ? overviewKey(event) : caseKey(event);
  if (!action) return;
  event.preventDefault();
  action();
}

function overviewKey(event) {
  const search = byId("filters").elements.q;
  if (event.target === search && event.key === "Escape") {
    return () => {
      if (!search.value) return search.blur();
      search.value = "";
      search.dispatchEvent(new Event("input", { bubbles: true }));
    };
  }
  const down = event.key === "ArrowDown" || event.key === "j";
  if (event.target === search && event.key === "ArrowDown") return () => select(0);
  if (typing(event.target)) return null;
  if (event.key === "/") return () => search.focus();
  if (down) return () => select(matrix.selected + 1);
  if (event.key === "ArrowUp" || event.key === "k") return () => select(matrix.selected - 1);
  return null;
}

function caseKey(event) {
  const back = () => { location.hash = overviewHash(); };
  if (event.key === "Escape") return back;
  if (event.key === "/") return () => { back(); setTimeout(() => byId("filters").elements.q.focus()); };
  const step = { j: 1, k: -1 }[event.key];
  const at = matrix.shown.findIndex((row) => row.id === opened) + (step ?? 0);
  const next = step && matrix.shown[at];
  return next ? () => location.replace(hashOf(next.id)) : null;
}

buildFilters();
addEventListener("hashchange", route);
addEventListener("keydown", onKey);
if (asked() !== null) {
  matrix.query = "";
  refresh();
}
route().then(() => {
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
});
