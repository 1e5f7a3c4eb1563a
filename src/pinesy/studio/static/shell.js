// The page around the views: tabs, address, theme, notices of files that changed.
import { button, counted, draw, fill, make } from "/shared/elements.js";
import { Studio } from "./studio.js";
import { failure } from "./tables.js";

/** Milliseconds between looks at the state of the work. */
const PULSE = 2000;
/** What the theme is stored as. */
const THEME = "pinesy-theme";
/** Pictures of the tabs, for phones. */
const ICONS = {
  ask: "M3 9h18v7H3zM3 12.5h11",
  rules: "M5 6h14M5 12h9M5 18h11",
  data: "M4 20V4M4 20h16M7 14l4-4 3 2 5-6",
  learn: "M4 17l5-5 4 3 7-8M15 7h5v5",
  share: "M12 15V4M8 8l4-4 4 4M5 13v6h14v-6",
};

const studio = new Studio(document.getElementById("notices"));
const tabs = document.getElementById("tabs");
const main = document.getElementById("view");
const undo = document.getElementById("undo");
const opening = document.getElementById("opening");
const opened = new Map();
let changed = null;

// The code is exchanged once: it need not stand in the address, or in the history.
const code = new URLSearchParams(location.search).get("code");
history.replaceState(null, "", `/${location.hash}`);
studio.readAddress();

function tab({ name, title }) {
  const attributes = { role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}` };
  const icon = draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, draw("path", { d: ICONS[name] ?? "" }));
  return button([icon, make("span", {}, title)], () => choose(name), attributes);
}

async function choose(name) {
  for (const each of tabs.children) {
    const isChosen = each.id === `tab-${name}`;
    each.setAttribute("aria-selected", isChosen);
    each.tabIndex = isChosen ? 0 : -1;
  }
  studio.view = name;
  studio.writeAddress();
  for (const panel of main.querySelectorAll(":scope > [role=tabpanel]")) panel.hidden = panel.id !== `panel-${name}`;
  if (!opened.has(name)) opened.set(name, enter(name));
  await opened.get(name);
  studio.dispatchEvent(new CustomEvent("view", { detail: name }));
}

async function enter(name) {
  const panel = make("div", {
    id: `panel-${name}`, role: "tabpanel", "aria-labelledby": `tab-${name}`, class: `view ${name}-view`,
  });
  main.append(panel);
  await fillPanel(panel, name);
}

/** Fill a panel with its view, or with what went wrong. */
async function fillPanel(panel, name) {
  if (!opening.isConnected) fill(panel, make("p", { class: "opening", role: "status" }, "Loading …"));
  try {
    const view = await import(`./views/${name}.js`);
    await view.open(panel, studio);
  } catch (error) {
    fill(panel, failure(error, () => fillPanel(panel, name)));
  }
  opening.remove();
  panel.dataset.ready = "true";
}

tabs.addEventListener("keydown", (event) => {
  const all = [...tabs.children];
  const index = all.indexOf(document.activeElement);
  const target = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: all.length - 1 }[event.key];
  if (target === undefined || index < 0) return;
  event.preventDefault();
  const next = all[(target + all.length) % all.length];
  next.focus();
  next.click();
});

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem(THEME, theme);
}

function show() {
  const { source, data, rows, reading, problem, canUndo } = studio.state;
  const soFar = rows ? `${counted(rows)} rows${reading ? " so far" : ""}` : "being read";
  const read = (rows || reading) && `${data}: ${soFar}`;
  const text = [source, read].filter(Boolean).join(" · ");
  fill(document.getElementById("source"), text);
  document.getElementById("source").title = text;
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

async function pulse() {
  if (!document.hidden) await studio.refresh().catch(() => {});
  // Data is read at the start, and often within moments.
  setTimeout(pulse, studio.state.reading ? PULSE / 8 : PULSE);
}

studio.addEventListener("state", show);
studio.addEventListener("go", (event) => document.getElementById(`tab-${event.detail}`)?.click());
undo.addEventListener("click", () => act("undo"));
document.getElementById("theme").addEventListener("click", () => {
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
  setTheme(isDark ? "light" : "dark");
});
window.addEventListener("focus", () => studio.refresh().catch(() => {}));
window.addEventListener("hashchange", () => {
  studio.readAddress();
  document.getElementById(`tab-${studio.view}`)?.click();
});
if (localStorage.getItem(THEME)) setTheme(localStorage.getItem(THEME));

async function start() {
  await studio.enter(code);
  const [views] = await Promise.all([studio.ask("shell/views"), studio.refresh()]);
  fill(tabs, ...views.map(tab));
  await choose(views.some(({ name }) => name === studio.view) ? studio.view : views[0].name);
  setTimeout(pulse, PULSE / 8);
}

await studio.attempt(start);
opening.remove();
