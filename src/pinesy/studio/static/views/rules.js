// The Rules view: the text beside what to look at first, and the rules as a picture.
import { button, counted, fill, make } from "/shared/elements.js";
import { layers } from "/shared/layers.js";
import { card, ruleCard } from "/shared/parts.js";
import { percent } from "../charts.js";
import { Editor } from "../editor.js";
import { follow } from "../jobs.js";
import { scoreLines } from "../score_lines.js";
import { later, latest } from "../timing.js";

/** Findings that are shown before "Show all". */
const FINDINGS = 6;
const SIGNS = { contradiction: ["conflict", "!"], gap: ["undecided", "?"], error: ["conflict", "!"], ok: ["certain", "✓"] };
const SIZES = { given: "narrow", between: "narrow", answer: "narrow", rules: "wide" };

class RulesView {
  constructor(place, studio, { text, keywords, file, card: lines }) {
    Object.assign(this, { place, studio, used: text, version: studio.state.version, unfolded: [], all: false });
    this.editor = new Editor(keywords, () => this.edited());
    this.summary = make("p", { id: "rules-problem", role: "status" }, "The rules are being checked …");
    this.findings = make("div", { class: "findings" });
    this.work = make("div", { class: "work-frame" });
    this.foundTitle = make("h2", {}, "Look at this first");
    this.picture = make("div", { class: "rules-picture" });
    this.look = latest(() => this.looked());
    this.lookLater = later(250, () => this.look());
    this.useButton = button("Use these rules", () => this.use(), { title: "Ctrl+Enter", class: "btn main" });
    const save = file ? button("Save", () => this.save(), { title: "Ctrl+S", class: "btn" }) : null;
    const download = () => studio.download(file || "rules.rules", this.editor.text, "text/plain");
    this.text = make(
      "section",
      { class: "card text", "aria-label": "Rules as text" },
      make("header", {}, make("h2", {}, "Rules as text"), make("span", { class: "small quiet" }, file)),
      this.editor.element,
      make(
        "div",
        { class: "tools" },
        this.useButton,
        save,
        file ? null : button("Download", download, { class: "btn", title: "as a .rules file" }),
        make("span", { class: "small quiet wide-only" }, file ? "Ctrl+Enter uses, Ctrl+S saves" : "Ctrl+Enter uses"),
      ),
    );
    this.found = make(
      "section",
      { class: "card found", "aria-label": "Look at this first" },
      make("header", {}, this.foundTitle),
      this.summary,
      this.findings,
      this.work,
    );
    this.top = make("div", { class: "rules-top" });
    this.pictureCard = make("section", { class: "card picture", "aria-label": "Rules as a picture" });
    this.compiled = make("details", { class: "card compiled" }, make("summary", {}, "The rules that the score card is compiled to"));
    fill(place, make("div", { class: "rules-stack" }, this.top, this.pictureCard, this.compiled));
    this.arrange(lines);
    place.addEventListener("keydown", (event) => this.key(event));
    this.editor.text = text;
    this.showButtons();
  }

  /** Show the text beside the findings; of induced rules the score card, and their text below. */
  arrange(lines) {
    this.lines = lines;
    const head = (title, note) => make("header", {}, make("h2", {}, title), make("span", { class: "small quiet" }, note));
    this.compiled.hidden = !lines;
    this.text.classList.toggle("card", !lines);
    if (lines) {
      this.compiled.append(this.text);
      fill(this.top, this.found);
      fill(this.pictureCard, head("The score card", "the class with most points is the answer; the lead says how certain it is"), scoreLines(lines));
    } else {
      fill(this.top, this.text, this.found);
      fill(this.pictureCard, head("Rules as a picture", "read from left to right; the number at a rule is how certain it is"), this.picture);
    }
    this.top.classList.toggle("single", Boolean(lines));
  }

  key(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    if (event.key === "Enter") this.use();
    else if (event.key === "s") this.save();
    else return;
    event.preventDefault();
  }

  edited() {
    this.showButtons();
    this.lookLater();
  }

  showButtons() {
    this.useButton.disabled = this.editor.text === this.used;
  }

  // --- what to look at first ---------------------------------------------------------------------

  async looked(thoroughly = false) {
    try {
      const found = await this.studio.ask("rules/look", { text: this.editor.text, thoroughly });
      this.editor.mark(null);
      this.showButtons();
      fill(this.summary, this.lines ? cardSummary(this.lines) : found.summary);
      this.showFindings(found);
    } catch (error) {
      if (error.status) this.refused(error);
    }
  }

  refused({ message, line, column }) {
    this.useButton.disabled = true;
    this.editor.mark(line ? { line, column } : null);
    const there = line ? [button(`Go to line ${line}`, () => this.editor.go(line, column), { class: "link" })] : [];
    fill(this.foundTitle, "This text cannot be used");
    fill(this.summary, "The rules before it still answer.");
    fill(this.findings, finding("error", message, there));
  }

  showFindings({ findings, hidden = [] }) {
    if (findings === null) {
      fill(this.foundTitle, "Findings");
      fill(this.findings, make("div", { class: "tools" }, button("Check these many rules", () => this.looked(true), { class: "btn" })));
      return;
    }
    const isUrgent = findings.some(({ level }) => level === "warning");
    fill(this.foundTitle, isUrgent ? "Look at this first" : "Findings");
    const notes = this.lines ? cardNotes(this.lines) : [];
    const shown = this.all ? findings : findings.slice(0, FINDINGS);
    const left = findings.length - shown.length;
    const showAll = () => {
      this.all = true;
      this.showFindings({ findings, hidden });
    };
    const fine = this.lines ? "Points cannot contradict each other." : "No rules contradict each other, and none is idle.";
    const isFine = !findings.length && !this.lines?.kept.length;
    fill(
      this.findings,
      isFine ? finding("ok", fine, []) : null,
      notes.map((note) => finding("note", note, [])),
      shown.map((one) => this.findingLine(one)),
      left ? button(`Show all ${findings.length}`, showAll, { class: "link" }) : hidden.map((note) => make("p", { class: "small quiet" }, note)),
    );
  }

  findingLine({ kind, level, text, lines, case: inputs }) {
    const acts = [];
    if (inputs) acts.push(button("Show such a case", () => this.showCase(inputs), { class: "link" }));
    for (const line of lines.slice(0, 3)) acts.push(button(`Go to line ${line}`, () => this.editor.go(line, 1), { class: "link" }));
    const sign = SIGNS[kind] ? kind : level === "warning" ? "error" : "note";
    return finding(sign, text, acts);
  }

  /** Ask about a case that shows a finding, by the rules of this text. */
  async showCase(inputs) {
    if (this.editor.text !== this.used) await this.use();
    if (this.editor.text !== this.used) return;
    this.studio.setSample({ row: null, inputs });
    this.studio.go("ask");
  }

  /** Show which rules decide on the data, and how often they are right. */
  async showWork() {
    const { rows, reading, problem } = this.studio.state;
    if (!rows || reading || problem) return fill(this.work);
    const status = await this.studio.ask("rules/work").catch(() => null);
    const last = status && (await follow(this.studio, status, () => {}));
    if (last?.state !== "done") return fill(this.work);
    const { samples, rules, total, lines } = last.result;
    if (!rules.length) return fill(this.work);
    const most = Math.max(1, ...rules.map(({ decides }) => decides));
    const line = ({ number, premise, conclusion, decides, right }) => {
      const split = make("span", { class: "split", "aria-hidden": "true" });
      split.style.width = `${(100 * decides) / most}%`;
      for (const [name, count] of [["right", right], ["wrong", decides - right]]) {
        const part = make("i", { class: name, hidden: !count });
        part.style.flexGrow = count;
        split.append(part);
      }
      const text = decides ? `${counted(decides)} ${decides === 1 ? "row" : "rows"}, ${percent(right / decides)} ${lines ? conclusion : "right"}` : "never";
      return [make("span", { class: "number", title: `${premise} → ${conclusion}` }, number), make("span", {}, split), make("span", { class: decides ? "" : "quiet" }, text)];
    };
    const left = total - rules.length;
    return fill(
      this.work,
      make("h3", {}, `${lines ? "Lines that hold" : "Rules that decide"}, on ${counted(samples)} rows`),
      make("div", { class: "work rule" }, rules.map(line)),
      left ? make("p", { class: "small quiet" }, `${counted(left)} more rules decide as often or less.`) : null,
    );
  }

  // --- the picture -------------------------------------------------------------------------------

  async showPicture() {
    if (this.lines) return;
    const { layers: columns, edges } = await this.studio.ask("rules/picture", { unfolded: this.unfolded });
    const node = (one, kind) => ({ id: one.id, kind: kind === "answer" ? "answer" : "", content: this.nodeContent(one) });
    const drawn = columns.map(({ title, kind, cards, more }) => ({
      title,
      size: SIZES[kind],
      nodes: [...cards.map((one) => node(one, kind)), ...(more ? [{ id: `${title} more`, kind: "off", content: more }] : [])],
    }));
    this.picture.classList.toggle("many", columns.length > 5);
    fill(this.picture, layers(drawn, edges.map(([from, to]) => ({ from, to }))));
    if (columns.length > 5) this.picture.firstChild.style.setProperty("--columns", columns.length);
  }

  nodeContent(one) {
    if (one.premise !== undefined) return ruleCard(one);
    if (one.title === undefined) return one.text;
    const many = one.count > 1;
    const unfold = () => {
      this.unfolded.push(one.id);
      return this.studio.attempt(() => this.showPicture());
    };
    return [
      make("b", {}, many ? `${one.title} to ${one.last}` : one.title),
      make("span", { class: "said" }, many ? `${counted(one.count)} alike: ${one.text}` : one.text),
      many ? button("Show each", unfold, { class: "link small" }) : null,
    ];
  }

  // --- using and saving --------------------------------------------------------------------------

  async use() {
    const { text } = this.editor;
    await this.studio.attempt(async () => {
      const { version } = await this.studio.ask("rules/use", { text });
      Object.assign(this, { used: text, version });
      this.showButtons();
      await this.studio.refresh();
      await this.renew((await this.studio.ask("rules/text")).card);
      this.studio.tell("These rules answer now, in all views.");
    });
  }

  async save() {
    if (this.editor.text !== this.used) await this.use();
    if (this.editor.text !== this.used) return;
    await this.studio.attempt(async () => {
      const { file } = await this.studio.ask("rules/save");
      this.studio.tell(`${file} is saved.`);
    });
  }

  async renew(lines) {
    this.arrange(lines);
    await Promise.all([this.showPicture(), this.showWork()]);
  }

  /** The rules or the data changed in another view, by undo or on disk. */
  async follow() {
    this.version = this.studio.state.version;
    const { text, card: lines } = await this.studio.ask("rules/text");
    await this.renew(lines);
    const show = () => {
      this.used = this.editor.text = text;
      this.edited();
    };
    if (this.editor.text === this.used || this.editor.text === text) show();
    else this.studio.tell("The rules changed elsewhere; this text is still yours.", "warning", { "Show the new ones": show });
  }
}

function finding(kind, text, acts) {
  const [look, mark] = SIGNS[kind] ?? ["", "i"];
  return make(
    "div",
    { class: `finding ${kind}` },
    make("span", { class: `sign ${look}`, "aria-hidden": "true" }, mark),
    make("div", {}, text),
    acts.length ? make("div", { class: "acts" }, acts) : null,
  );
}

function cardSummary({ output, classes }) {
  const lines = classes.reduce((sum, one) => sum + one.lines.length, 0);
  return `A score card of ${lines} lines that give points to the ${classes.length} values of ${output}; the lead in points says how certain the answer is.`;
}

function cardNotes({ unused, kept }) {
  const own = kept.map((rule) => `Your rule holds besides the points: ${rule}.`);
  if (!unused.length) return own;
  const names = unused.length > 5 ? `${unused.slice(0, 5).join(", ")} and ${unused.length - 5} more` : unused.join(", ");
  return [...own, `In the table, but in no line: ${names}. The card does not need ${unused.length === 1 ? "it" : "them"}.`];
}

/** Show the rules. */
export async function open(place, studio) {
  const view = new RulesView(place, studio, await studio.ask("rules/text"));
  const key = () => `${studio.state.version} ${studio.state.rows} ${studio.state.reading}`;
  let seen = key();
  studio.addEventListener("state", () => {
    if (studio.state.version !== view.version) studio.attempt(() => view.follow());
    else if (key() !== seen) studio.attempt(() => view.showWork());
    seen = key();
  });
  view.look(); // of many rules it takes long, and the text can be read meanwhile
  await view.showPicture();
  view.showWork();
}
