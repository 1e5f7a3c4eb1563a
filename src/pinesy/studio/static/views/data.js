import { button, counted, degreeText, fill, make } from "/shared/elements.js";
import { curve } from "../curve.js";
import { FreshView } from "../fresh_view.js";
import { JobLine } from "../jobs.js";
import { Pager, choice, field, fields, named, percent, sortHead, table } from "../tables.js";

const ROWS = 20;
const METHODS = [
  ["auto", "the rules, out of fold where they come from this data"],
  ["given", "the rules as they are"],
  ["exact", "exactly learned parameters, out of fold"],
  ["counts", "counted parameters, out of fold"],
  ["gradient", "fitted parameters, out of fold"],
  ["induce", "rules induced again, out of fold"],
];

/** How right the rules are on the data, and which rows are suspicious. */
class DatasetView extends FreshView {
  constructor(place, studio) {
    super(place, studio, "data");
    this.before = null;
    this.order = { sort: "worst", reversed: false };
    this.figuresJob = new JobLine(studio);
    this.auditJob = new JobLine(studio);
    this.learnJob = new JobLine(studio);
    this.write();
  }

  write() {
    this.attributes = choice([], null, { onchange: () => this.studio.attempt(() => this.evaluate()) });
    this.methods = choice(METHODS, "auto", { onchange: () => this.studio.attempt(() => this.audit()) });
    this.note = make("p", { class: "quiet" });
    this.figures = make("div", {});
    this.edits = make("div", { class: "edits" });
    this.rows = make("div", {});
    this.verdict = make("p", { "aria-live": "polite" });
    this.pager = new Pager(ROWS, (start) => this.studio.attempt(() => this.page(start)));
    this.content = make(
      "div",
      { hidden: true },
      fields(field("Labels of", this.attributes)),
      this.figuresJob.element,
      this.figures,
      make("h2", {}, "Suspicious labels"),
      fields(field("Judged with", this.methods)),
      this.auditJob.element,
      this.verdict,
      this.edits,
      this.learnJob.element,
      this.rows,
      this.pager.element,
    );
    fill(this.place, this.note, this.content);
  }

  async load() {
    this.seen = this.key;
    this.stale = false;
    const text = this.noteText(this.studio.state);
    fill(this.note, text);
    this.content.hidden = text !== "";
    if (text) return;
    const overview = await this.studio.ask("data/overview");
    this.content.hidden = !overview.targets.length;
    if (this.content.hidden) {
      fill(this.note, "The data has no labels of what the rules conclude on.");
      return;
    }
    this.receive(overview);
    this.before = null;
    await Promise.all([this.evaluate(), this.audit()]);
  }

  /** Return why there is nothing to be seen; nothing if there is. */
  noteText({ reading, rows, problem }) {
    if (problem) return problem;
    if (reading) return `The data is being read: ${counted(rows)} rows so far.`;
    return rows ? "" : "There is no data. Start the studio with some: pinesy studio RULES DATA";
  }

  receive({ targets, edits }) {
    this.values = new Map(targets.map(({ name, values }) => [name, values]));
    this.graded = new Set(targets.filter(({ graded }) => graded).map(({ name }) => name));
    const names = targets.map(({ name }) => name);
    const best = names.findLast((name) => !this.graded.has(name)) ?? names.at(-1);
    const kept = names.includes(this.attributes.value) ? this.attributes.value : best;
    fill(this.attributes, named(names, kept));
    this.showEdits(edits);
  }

  /** Run a job and return what it found; nothing if it was stopped, or another took its place. */
  async run(line, path, content) {
    const last = await line.run(await this.studio.ask(path, content));
    if (last?.state === "failed") throw new Error(last.error);
    return last?.state === "done" ? last.result : undefined;
  }

  // --- figures -----------------------------------------------------------------------------------

  async evaluate() {
    const attribute = this.attributes.value;
    if (this.graded.has(attribute)) {
      const text = `The labels of ${attribute} are distributions: no answer is the right one.`;
      fill(this.figures, make("p", { class: "quiet" }, text));
      return;
    }
    const found = await this.run(this.figuresJob, "data/evaluate", { attribute });
    if (found) this.showFigures(found);
  }

  showFigures(found) {
    const same = this.before?.attribute === found.attribute;
    const change = (key) => (same && this.before[key] !== found[key] ? `${percent(this.before[key])} → ` : "");
    const cell = (key) => change(key) + percent(found[key]);
    const text = "Share of right answers on the surest share of the samples";
    const parts = [
      table(
        "Predictions",
        ["samples", "right", "undecided", "contradictory", "mean risk"],
        [[
          counted(found.samples), cell("accuracy"), cell("undecided"), cell("contradictory"),
          degreeText(found.area_under_risk_coverage),
        ]],
        { class: "figures" },
      ),
      make(
        "figure",
        {},
        make("figcaption", {}, `${text}, from the surest one to all of them`),
        curve(found.curve, text),
      ),
      ...this.coverageTable(found.coverage),
      ...this.confusion(found),
      table(
        found.has_card ? "Lines of the score card" : "Rules that decide",
        [found.has_card ? "holds" : "decides", "right", found.has_card ? "line" : "rule"],
        found.rules.map((one) => [String(one.decides), percent(one.right / one.decides), make("code", {}, one.rule)]),
      ),
    ];
    fill(this.figures, make("div", { class: "figures-frame" }, parts));
    this.before = found;
  }

  coverageTable(coverage) {
    if (!coverage) return [];
    if (coverage.error) return [make("p", { class: "warning" }, coverage.error)];
    const rows = coverage.rows.filter(({ scope }) => scope === "all");
    const line = (row) => [
      percent(row.level), percent(row.observed), `${percent(row.low)} to ${percent(row.high)}`,
      degreeText(row.mean_size), percent(row.single),
    ];
    const heads = ["level", "observed", "95 % band", "mean size", "single answers"];
    const verdict = make("p", { class: "quiet" }, coverage.verdict);
    return [make("div", {}, table("Guaranteed and observed", heads, rows.map(line)), verdict)];
  }

  confusion({ values, confusion, confused }) {
    if (confusion) {
      const heads = ["true \\ predicted", ...values, "undecided"];
      const cell = (count, at, i) => make("span", { class: at === i ? "" : count ? "wrong" : "quiet" }, String(count));
      const rows = confusion.map((row, i) => [values[i], ...row.map((count, at) => cell(count, at, i))]);
      return [table("True values by predicted ones", heads, rows, { class: "confusion" })];
    }
    const rows = confused.map((one) => [one.true, one.predicted, String(one.samples)]);
    return [table("Most often confused", ["true", "predicted", "samples"], rows)];
  }

  // --- rows --------------------------------------------------------------------------------------

  async audit() {
    const found = await this.run(this.auditJob, "data/audit", { method: this.methods.value });
    if (!found) return;
    fill(
      this.verdict,
      `${counted(found.suspicious)} suspicious ${found.suspicious === 1 ? "label" : "labels"} ` +
        `(${counted(found.impossible)} impossible) in ${counted(found.samples)} rows, ${found.basis}.`,
    );
    await this.page(0);
  }

  async page(start) {
    const asked = { method: this.methods.value, ...this.order, start, count: ROWS };
    const { rows, total } = await this.studio.ask("data/page", asked);
    fill(this.rows, this.rowTable(rows));
    this.pager.show(start, rows.length, total);
  }

  async sort(sort, reversed) {
    this.order = { sort, reversed };
    await this.page(0);
    this.rows.querySelector('[aria-sort="ascending"] button, [aria-sort="descending"] button')?.focus();
  }

  rowTable(rows) {
    const head = (text, sort) =>
      sortHead(text, sort, this.order, (...how) => this.studio.attempt(() => this.sort(...how)));
    const sorted = [["row", "row"], ["suspicion", "suspicion"], ["distance", "nabla"], ["label", "label"]];
    const filled = table("Rows", [], rows.map((row) => this.cells(row)), { class: "rows-table" });
    const heads = [
      head("worst first", "worst"),
      ...sorted.map(([text, sort]) => head(text, sort)),
      ...["more possible", "why"].map((text) => make("th", { scope: "col" }, text)),
    ];
    fill(filled.querySelector("thead tr"), ...heads);
    return filled;
  }

  cells(row) {
    const name = [String(row.row + 1), ...Object.values(row.ids)].join(" · ");
    const open = button("Open", () => this.open(row.row), { "aria-label": `Open row ${row.row + 1}` });
    const images = Object.entries(row.images).map(([name, src]) => make("img", { src, alt: name }));
    return [
      make("span", { class: "thumbs" }, open, ...images),
      make("span", { title: `line ${row.line}` }, name),
      degreeText(row.suspicion),
      degreeText(row.nabla),
      this.labelChoice(row),
      row.suspicious ? row.best : "",
      row.reason ?? "",
    ];
  }

  labelChoice(row) {
    if (row.place === null) return `${row.attribute}: ${row.label}`;
    const values = this.values.get(row.attribute);
    const select = choice(
      values.map((text, place) => [place, text]),
      row.place,
      {
        "aria-label": `${row.attribute} of row ${row.row + 1}`,
        onchange: () => this.studio.attempt(() => this.relabel(row, Number(select.value))),
      },
    );
    return make("span", {}, `${row.attribute} `, select);
  }

  /** Look at a row in the view of samples. */
  open(row) {
    this.studio.setSample({ row, inputs: {} });
    this.studio.go("sample");
  }

  // --- labels ------------------------------------------------------------------------------------

  async relabel({ row, attribute }, place) {
    this.receive(await this.studio.ask("data/label", { row, attribute, place }));
    await this.follow();
  }

  /** Show what follows from other labels, on the page that is seen. */
  async follow() {
    const { start } = this.pager;
    await Promise.all([this.evaluate(), this.audit()]);
    await this.page(start);
  }

  showEdits(edits) {
    if (!edits.length) return fill(this.edits);
    const line = ({ row, line: at, attribute, was, now }) =>
      make("li", {}, `row ${row + 1} (line ${at}): ${attribute} ${was} → ${now}`);
    const undo = async () => {
      this.receive(await this.studio.ask("data/undo_label"));
      await this.follow();
    };
    const attempt = (text, action) => button(text, () => this.studio.attempt(action));
    this.consequences = make("div", { "aria-live": "polite" });
    return fill(
      this.edits,
      make("h2", {}, "Changed labels"),
      make("p", { class: "quiet" }, "They count for figures, audit and learning here. The file stays as it is."),
      make("ul", {}, ...edits.slice(-20).map(line)),
      attempt("Undo the last change", undo),
      attempt("What would learning change?", () => this.consider()),
      this.consequences,
    );
  }

  async consider() {
    const method = ["auto", "given", "induce"].includes(this.methods.value) ? "exact" : this.methods.value;
    const place = this.consequences;
    const found = await this.run(this.learnJob, "data/consequences", { method });
    if (!found) return fill(place, "Learning was stopped.");
    const pair = ([s, r]) => `s ${degreeText(s)}, r ${degreeText(r)}`;
    const rows = found.rows.map((row) => [row.set, make("code", {}, row.text), pair(row.before), pair(row.after)]);
    const text = `Learning (${method}) gives other parameters to ${found.changed} of ${found.rules} rules.`;
    return fill(
      place,
      make("p", {}, text),
      rows.length ? table("Parameters", ["set", "rule", "with the file's labels", "with these"], rows) : null,
    );
  }
}

/** Fill the view. */
export async function open(place, studio) {
  const view = new DatasetView(place, studio);
  await view.update();
}
