// The Rules view: write rules, see what is wrong or odd at once, and how they hang together.
import { button, fill, make, shortList } from "/shared/elements.js";
import { Editor } from "../editor.js";
import { RuleGraph } from "../graph.js";
import { table } from "../tables.js";
import { later, latest } from "../timing.js";

class RulesView {
  constructor(place, studio, { text, keywords, file, card }) {
    Object.assign(this, { studio, used: text, version: studio.state.version });
    this.editor = new Editor(keywords, () => this.edited());
    this.problem = make("p", { id: "rules-problem", role: "status", class: "problem" });
    this.findings = make("div", { class: "findings" });
    this.graph = new RuleGraph(studio);
    this.look = latest(() => this.looked());
    this.lookLater = later(250, () => this.look());
    this.useButton = button("Use these rules", () => this.use(), { title: "Ctrl+Enter", class: "main" });
    const save = file ? button(`Save ${file}`, () => this.save(), { title: "Ctrl+S" }) : null;
    const download = () => studio.download("rules.rules", this.editor.text, "text/plain");
    this.card = make("section", { "aria-label": "score card" });
    this.text = make("details", {}, make("summary", {}, "rules as text"));
    this.showCard(card);
    fill(
      place,
      this.card,
      this.text,
    );
    this.text.append(
      make("div", { class: "columns" },
        make("section", { "aria-label": "text" },
          this.editor.element,
          make("div", { class: "tools" }, this.useButton, save, button("Download", download, { title: "as a .rules file" })),
          this.problem, this.findings),
        make("section", { "aria-label": "graph" }, this.graph.element)),
    );
    place.addEventListener("keydown", (event) => this.key(event));
    this.editor.text = text;
    this.showButtons();
  }

  /** Of induced rules show the score card; the rules that it is compiled to can be opened. */
  showCard(card) {
    this.card.hidden = !card;
    this.text.open = !card;
    this.text.firstChild.hidden = !card;
    if (!card) return;
    fill(
      this.card,
      make("p", {}, `${card.summary}.`),
      table("Score card", card.head, card.rows, { class: "card" }),
      make("p", { class: "quiet" }, card.leads),
    );
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

  async looked(thoroughly = false) {
    try {
      const found = await this.studio.ask("rules/look", { text: this.editor.text, thoroughly });
      this.editor.mark(null);
      this.showButtons();
      this.problem.className = "problem quiet";
      fill(this.problem, found.summary);
      this.showFindings(found.findings);
    } catch (error) {
      if (error.status) this.refused(error);
    }
  }

  refused(error) {
    this.problem.className = "problem error";
    this.useButton.disabled = true;
    const { line, column } = error;
    this.editor.mark(line ? { line, column } : null);
    const there = line
      ? button(`Go to line ${line}, column ${column}`, () => this.editor.go(line, column), { class: "link" })
      : null;
    fill(this.problem, error.message, " ", there);
    fill(this.findings);
  }

  showFindings(findings) {
    if (findings === null) {
      fill(this.findings, button("Check these many rules", () => this.looked(true)));
      return;
    }
    const line = (finding) => make("span", { class: finding.level }, finding.text);
    fill(this.findings, findings.length ? shortList(findings, line, 8) : make("p", { class: "quiet" }, "check finds nothing odd."));
  }

  async use() {
    const { text } = this.editor;
    await this.studio.attempt(async () => {
      const { version } = await this.studio.ask("rules/use", { text });
      Object.assign(this, { used: text, version });
      this.showCard((await this.studio.ask("rules/text")).card);
      this.showButtons();
      await Promise.all([this.graph.load(), this.studio.refresh()]);
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

  /** The rules changed in another view, by undo or on disk. */
  async follow() {
    this.version = this.studio.state.version;
    const { text, card } = await this.studio.ask("rules/text");
    this.showCard(card);
    await this.graph.load();
    const show = () => {
      this.used = this.editor.text = text;
      this.edited();
    };
    if (this.editor.text === this.used || this.editor.text === text) show();
    else this.studio.tell("The rules changed elsewhere; this text is still yours.", "warning", { "Show the new ones": show });
  }
}

/** Show the rules. */
export async function open(place, studio) {
  const view = new RulesView(place, studio, await studio.ask("rules/text"));
  studio.addEventListener("state", () => {
    if (studio.state.version !== view.version) studio.attempt(() => view.follow());
  });
  view.look(); // of many rules it takes long, and the text can be read meanwhile
  await view.graph.load();
}
