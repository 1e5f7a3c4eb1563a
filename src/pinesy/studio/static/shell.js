// The page around the views: tabs, the header, notices of files that changed.
import { button, counted, fill, make } from "/shared/elements.js";
import { Studio } from "./studio.js";

/** Milliseconds between looks at the state of the work. */
const PULSE = 2000;

const studio = new Studio(document.getElementById("notices"));
const tabs = document.getElementById("tabs");
const main = document.getElementById("view");
const undo = document.getElementById("undo");
const opened = new Map();
let changed = null;

// The code is exchanged once: it need not stand in the address, or in the history.
const code = new URLSearchParams(location.search).get("code");
history.replaceState(null, "", `/${location.hash}`);

function tab(view) {
  const { name, title } = view;
  const attributes = { role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}` };
  return button(title, () => choose(name), attributes);
}

async function choose(name) {
  for (const each of tabs.children) {
    const chosen = each.id === `tab-${name}`;
    each.setAttribute("aria-selected", chosen);
    each.tabIndex = chosen ? 0 : -1;
  }
  if (location.hash !== `#${name}`) history.replaceState(null, "", `#${name}`);
  for (const panel of main.children) panel.hidden = panel.id !== `panel-${name}`;
  if (!opened.has(name)) opened.set(name, enter(name));
  await opened.get(name);
  studio.dispatchEvent(new CustomEvent("view", { detail: name }));
}

async function enter(name) {
  const panel = make("div", {
    id: `panel-${name}`, role: "tabpanel", "aria-labelledby": `tab-${name}`, class: `view ${name}`,
  });
  main.append(panel);
  await studio.attempt(async () => {
    const view = await import(`./views/${name}.js`);
    await view.open(panel, studio);
  });
  panel.dataset.ready = "true";
}

tabs.addEventListener("keydown", (event) => {
  const all = [...tabs.children];
  const at = all.indexOf(document.activeElement);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (to === undefined || at < 0) return;
  event.preventDefault();
  const next = all[(to + all.length) % all.length];
  next.focus();
  next.click();
});

function show() {
  const { source, data, rows, reading, problem, canUndo } = studio.state;
  const read = (rows || reading) && `${data}: ${counted(rows)} rows${reading ? " so far" : ""}`;
  fill(document.getElementById("source"), [source, read].filter(Boolean).join(" · "));
  undo.hidden = !canUndo;
  if (problem && problem !== show.problem) studio.tell(problem, "error");
  show.problem = problem;
  showChanged(studio.state.changed);
}

function showChanged(files) {
  const names = files.join(", ");
  if (names === (changed?.dataset.names ?? "")) return;
  changed?.remove();
  changed = null;
  if (!names) return;
  changed = studio.tell(`${names} changed on disk.`, "warning", {
    "Load again": () => act("reload"),
    "Keep what is here": () => act("keep"),
  });
  changed.dataset.names = names;
}

function act(name) {
  return studio.attempt(async () => studio.receive(await studio.ask(`shell/${name}`)));
}

/** Save the rules and the sample as one file that answers without a studio. */
async function send() {
  const { name, page } = await studio.ask("shell/page", { sample: studio.sample });
  studio.download(name, page, "text/html");
}

async function pulse() {
  if (!document.hidden) await studio.refresh().catch(() => {});
  setTimeout(pulse, PULSE);
}

studio.addEventListener("state", show);
studio.addEventListener("go", (event) => document.getElementById(`tab-${event.detail}`)?.click());
undo.addEventListener("click", () => act("undo"));
document.getElementById("send").addEventListener("click", () => studio.attempt(send));
window.addEventListener("focus", () => studio.refresh().catch(() => {}));

async function start() {
  await studio.enter(code);
  const [{ views, first }] = await Promise.all([studio.ask("shell/views"), studio.refresh()]);
  fill(tabs, ...views.map(tab));
  const wanted = location.hash.slice(1);
  await choose(views.some((view) => view.name === wanted) ? wanted : first);
  setTimeout(pulse, PULSE);
}

await studio.attempt(start);
