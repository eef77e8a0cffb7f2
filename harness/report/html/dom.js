"use strict";
// Everything is put into the page as text: nothing here makes markup out of a string.

const byId = (id) => document.getElementById(id);

function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined) continue;
    element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child || child === 0));
  return element;
}

const data = JSON.parse(byId("index").textContent);
const words = data.verdicts.map(([word]) => word);
const passes = data.verdicts.map(([, passes]) => passes);

let detailLines = null;
async function detailsOf(number) {
  detailLines ??= unpacked(byId("details").textContent);
  return JSON.parse((await detailLines)[number]);
}

async function unpacked(base64) {
  const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).text()).split("\n");
}

const hashOf = (id) => "#/case/" + id.split("/").map(encodeURIComponent).join("/");

const verdict = (number) => el("span", { class: "verdict v-" + words[number] }, words[number]);

function link(text, address) {
  // Only what leads to a web page, or stays on this one.
  return /^(https?:\/\/|#)/.test(address)
    ? el("a", { href: address, rel: "noreferrer noopener" }, text)
    : el("span", {}, text);
}
