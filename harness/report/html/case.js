// The page of a case: what was seen on each release, stage by stage, and how to go on.

const STAGES = ["load", "input", "pass", "well_formed", "build", "vm", "run", "exit"];

async function casePage(number) {
  const row = data.rows[number];
  const about = await detailsOf(number);
  const releases = Object.keys(about.records).map(Number);
  const shown = el("div", { class: "release" });
  const worst = releases.find((one) => !passes[about.records[one].verdict]) ?? releases.at(-1);
  const show = (one) => shown.replaceChildren(...releaseParts(about.records[one], one));
  show(worst);
  return [
    el("p", { class: "path" }, link("All cases", overviewHash()), " / ", el("code", {}, row.id)),
    el("h2", { tabindex: "-1" }, row.title || row.id),
    facts(row, about),
    about.notes ? el("div", { class: "notes" },
      about.notes.split(/\n\s*\n/).map((paragraph) => el("p", {}, paragraph))) : "",
    choice(releases, about.records, worst, show),
    shown,
    about.ir.length ? irParts(about.ir) : "",
    about.path ? commands(about) : "",
  ].filter(Boolean);
}

function facts(row, about) {
  const issue = (about.issues ?? []).flatMap(([text, address]) => [link(text, address), " "]);
  const entries = [
    ["issue", issue],
    ["labels", [row.area, ...row.kinds, ...row.tags].filter(Boolean).join(", ")],
    ["passes", (about.passes ?? []).join(", ")],
    ["fix", about.fix],
    ["for TVM", about.tvm],
  ].filter(([, value]) => value?.length);
  return el("dl", { class: "facts" }, entries.map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, ...[value].flat()))));
}

function choice(releases, records, first, show) {
  const options = releases.map((one) => {
    const input = el("input", { type: "radio", name: "shown", value: String(one),
      checked: one === first });
    input.addEventListener("change", () => show(one));
    return el("label", {}, input, el("span", {}, data.releases[one]), verdict(records[one].verdict));
  });
  return el("fieldset", { class: "tabs" }, el("legend", { class: "sr" }, "Release"), options);
}

function releaseParts(record, number) {
  const contrasts = record.contrasts.length ? [
    el("h3", {}, "Contrasts"),
    el("ul", { class: "contrasts" }, record.contrasts.map(([title, one]) => el("li", {},
      verdict(one.verdict), " ", title,
      passes[one.verdict] ? "" : el("div", { class: "inner" }, judgementParts(one))))),
  ] : [];
  return [el("h3", { class: "sr" }, "On TVM " + data.releases[number]),
    el("p", { class: "under" }, data.versions[number],
      record.seconds ? `, ${record.seconds.toFixed(2)} s` : ""),
    ...judgementParts(record), ...contrasts];
}

function judgementParts(judged) {
  const arms = Object.entries(judged.arms);
  return [
    el("p", { class: "reason" }, judged.reason),
    arms.length ? ladder(arms) : "",
    ...arms.flatMap(([name, arm]) => armTexts(name, arm)),
  ].filter(Boolean);
}

function ladder(arms) {
  const row = (stage) => {
    const seen = arms.map(([, arm]) => arm.stages?.find((one) => one.stage === stage));
    return el("tr", {}, el("th", { scope: "row" }, stage), seen.map(stageCell));
  };
  const names = arms.map(([name, arm]) => el("th", { scope: "col" },
    arm.runs ? `${name} (the telling one of ${arm.runs} runs)` : name));
  const more = ["globals", "fix", "signature"].filter((key) => arms.some(([, arm]) => arm[key]));
  const label = { globals: "functions", fix: "fix", signature: "signature" };
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Stages" },
    el("table", { class: "ladder" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "stage"), names)),
      el("tbody", {}, STAGES.map(row)),
      el("tfoot", {}, more.map((key) => el("tr", {}, el("th", { scope: "row" }, label[key]),
        arms.map(([, arm]) => el("td", {}, arm[key] ?? "")))))));
}

function stageCell(stage) {
  if (!stage) return el("td");
  const outcome = stage.outcome ?? "ok";
  const calm = { ok: "ok", "not reached": "quiet", "not applicable": "quiet", skipped: "quiet" };
  const style = calm[outcome] ?? "bad";
  const what = stage.what && stage.what !== outcome ? `${outcome} ${stage.what}` : outcome;
  return el("td", { class: stage.expected ? "differs" : style },
    el("span", { class: "outcome" }, (stage.expected ? "≠ " : "") + what),
    style === "bad" && stage.at ? el("span", { class: "at" }, " at ", el("code", {}, stage.at)) : "",
    stage.ms >= 10 ? el("span", { class: "ms" }, `${stage.ms} ms`) : "",
    stage.expected ? el("span", { class: "expected" }, "expected ", stage.expected) : "",
    stage.message ? el("pre", {}, stage.message) : "",
    stage.frames ? folded("backtrace, innermost first", stage.frames.join("\n")) : "");
}

const armTexts = (name, arm) =>
  ["stderr", "stdout"].filter((key) => arm[key]?.trim())
    .map((key) => folded(`end of ${key}, ${name}`, arm[key].trim()));

const folded = (title, text) =>
  el("details", {}, el("summary", {}, title),
    el("pre", { tabindex: "0", role: "region", "aria-label": title }, text));

function irParts(all) {
  return el("section", { class: "ir" }, el("h3", {}, "IR"), all.map((sides, number) => {
    const block = el("details", {}, el("summary", {}, sides.title,
      el("span", { class: "quiet" }, ` printed by TVM ${sides.tvm}`)));
    const fill = () => block.children.length > 1 || block.append(sideBySide(sides));
    block.addEventListener("toggle", fill);
    if (sides.marks.length || (number === 0 && !all.some((one) => one.marks.length))) {
      block.open = true;
    }
    return block;
  }));
}

function commands(about) {
  const path = /^[\w./+-]+$/.test(about.path) ? about.path : `'${about.path.replaceAll("'", `'"'"'`)}'`;
  return el("section", {}, el("h3", {}, "Go on"), el("pre", { class: "commands", tabindex: "0" }, [
    `tvm-repro compare ${path}`,
    `tvm-repro explain ${path}`,
    `tvm-repro locate ${path}`,
    `tvm-repro bisect ${path}`,
    Object.values(about.records).every((one) => passes[one.verdict]) ? ""
      : `tvm-repro bless ${path}`,
    `pytest ${path}`,
  ].filter(Boolean).join("\n")));
}
