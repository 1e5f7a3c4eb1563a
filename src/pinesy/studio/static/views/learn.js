import { button, degreeText, fill, make } from "/shared/elements.js";
import { FreshView } from "../fresh_view.js";
import { JobLine } from "../jobs.js";
import { Pager, checks, choice, field, fields, named, namesChecked, percent, table } from "../tables.js";

const ROWS = 50;
const ACCEPTED = "Accepted. Undo, above, goes back.";
const METHODS = {
  exact: "exact: rules that must hold",
  counts: "counts: noisy data",
  gradient: "gradient: noisy data, rules fitted together",
};
const FIXED = [
  ["", "none"],
  ["implications", "the s of implications"],
  ["s", "every s"],
  ["r", "every r"],
];

/** Parameters or rules from the data; nothing changes before it is accepted. */
class LearnView extends FreshView {
  constructor(place, studio) {
    super(place, studio, "learn");
    this.all = false;
    this.job = new JobLine(studio);
    this.write();
  }

  write() {
    this.method = choice(Object.entries(METHODS), "exact", { onchange: () => this.showFields() });
    this.tolerance = make("input", { type: "number", min: 0, max: 1, step: "any", placeholder: "none" });
    this.smoothing = make("input", { type: "number", min: 0, step: "any", value: 1 });
    this.fixed = choice(FIXED, "implications", {});
    this.targets = make("span", { class: "checks" });
    this.toleranceField = field("Leave out rows that are off by", this.tolerance);
    this.smoothingField = field("Smoothing", this.smoothing);
    this.target = choice([], null, {});
    this.maxRules = make("input", { type: "number", min: 1, step: 1, placeholder: "as many as pay" });
    this.seed = make("input", { type: "number", min: 0, step: 1, value: 0 });
    this.note = make("p", { class: "quiet" });
    this.found = make("div", { "aria-live": "polite" });
    this.parameters = make("div", {});
    this.pager = new Pager(ROWS, (start) => this.studio.attempt(() => this.page(start)));
    const begin = (text, path, content) =>
      button(text, () => this.begin(path, content()), { class: "main" });
    this.forms = make(
      "div",
      { hidden: true },
      make("h2", {}, "Learn the parameters of these rules"),
      fields(
        field("Method", this.method),
        this.toleranceField,
        this.smoothingField,
        field("Keep", this.fixed),
      ),
      fields("Labels of ", this.targets),
      begin("Learn", "learn/start", () => this.options()),
      make(
        "details",
        {},
        make("summary", {}, "Induce new rules from the data"),
        fields(
          field("Column to predict", this.target),
          field("Rules at most", this.maxRules),
          field("Seed", this.seed),
          begin("Induce", "learn/induce", () => this.induction()),
        ),
      ),
    );
    fill(
      this.place, this.note, this.forms, this.job.element, this.found, this.parameters,
      this.pager.element,
    );
    this.pager.element.hidden = true;
    this.showFields();
  }

  showFields() {
    const exact = this.method.value === "exact";
    this.toleranceField.hidden = !exact;
    this.smoothingField.hidden = exact;
  }

  options() {
    return {
      method: this.method.value,
      tolerance: this.tolerance.value === "" ? null : Number(this.tolerance.value),
      smoothing: Number(this.smoothing.value),
      fixed: this.fixed.value || null,
      targets: namesChecked(this.targets),
    };
  }

  induction() {
    const most = this.maxRules.value;
    return {
      target: this.target.value,
      max_rules: most === "" ? null : Number(most),
      seed: Number(this.seed.value),
    };
  }

  async load() {
    this.seen = this.key;
    this.stale = false;
    const choices = await this.studio.ask("learn/choices");
    this.showChoices(choices);
    const { job } = await this.studio.ask("learn/status");
    if (job?.decided) this.clear(choices.version === this.accepted ? ACCEPTED : "");
    else if (job) await this.watch(job);
  }

  showChoices({ hasData, reading, targets, columns, edits, missing }) {
    const labels = targets.length > 0;
    let text = edits ? `${edits} labels were changed in the Data view; they count here.` : "";
    if (!labels) text = "The data has no labels of what the rules conclude on.";
    if (reading) text = "The data is being read.";
    if (!hasData) text = "There is no data. Start the studio with some: pinesy studio RULES DATA";
    if (missing.length) text += ` Inducing rules needs ${missing.join(" and ")}.`;
    fill(this.note, text);
    this.forms.hidden = !hasData || reading;
    fill(this.targets, checks(targets));
    fill(this.target, named(columns));
  }

  begin(path, content) {
    return this.studio.attempt(async () => this.watch(await this.studio.ask(path, content)));
  }

  /** Show a job, whoever began it, to its end. */
  async watch(status) {
    fill(this.found);
    fill(this.parameters);
    this.pager.element.hidden = true;
    const last = await this.job.run(status);
    if (!last || last.decided) return;
    if (last.state === "failed") fill(this.found, make("p", { class: "error" }, last.error));
    if (last.state === "stopped") fill(this.found, make("p", {}, "Stopped. Nothing has changed."));
    if (last.state === "done") await this.show(last);
  }

  async show({ result, seconds }) {
    const before = result.accuracyBefore === null ? "" : `${percent(result.accuracyBefore)} → `;
    const right = result.accuracyAfter === null ? "" : `Right on the same data: ${before}${percent(result.accuracyAfter)}. `;
    const attempt = (text, action, attributes = {}) =>
      button(text, () => this.studio.attempt(action), attributes);
    this.name = make("input", { type: "text", value: "learned.json", "aria-label": "Name of the new file" });
    fill(
      this.found,
      make("h2", {}, result.induced ? "New rules" : "What was learned"),
      make("p", {}, `${right}It took ${seconds.toFixed(1)} s.`),
      make("pre", { tabindex: 0 }, result.induced ? result.text : result.report),
      fields(
        attempt("Accept", () => this.accept(), { class: "main" }),
        attempt("Discard", () => this.discard()),
        this.name,
        attempt("Save to a new file", () => this.save()),
      ),
    );
    if (!result.induced) await this.page(0);
  }

  async page(start) {
    const found = await this.studio.ask("learn/parameters", { start, count: ROWS, all: this.all });
    const pair = (one, i) => [degreeText(one.before[i]), degreeText(one.after[i])];
    const cell = ([before, after]) => make("span", { class: before === after ? "quiet" : "lit" }, after);
    const rows = found.rows.map((row) => {
      const [s, r] = [pair(row, 0), pair(row, 1)];
      return [row.set, String(row.rule), make("code", {}, row.text), s[0], cell(s), r[0], cell(r)];
    });
    const toggle = () => {
      this.all = !this.all;
      return this.studio.attempt(() => this.page(0));
    };
    const shown = this.all ? "Show those that changed" : "Show all rules";
    fill(
      this.parameters,
      make("p", {}, `${found.changed} of ${found.rules} rules have other parameters. `,
        button(shown, toggle)),
      rows.length
        ? table("Parameters before and after, the largest change first",
          ["set", "rule", "text", "s before", "s after", "r before", "r after"], rows)
        : null,
    );
    this.pager.show(start, rows.length, found.total);
  }

  clear(text) {
    fill(this.found, make("p", {}, text));
    fill(this.parameters);
    this.pager.element.hidden = true;
  }

  async accept() {
    this.accepted = (await this.studio.ask("learn/accept")).version;
    this.clear(ACCEPTED);
    await this.studio.refresh();
  }

  async discard() {
    await this.studio.ask("learn/discard");
    this.clear("Discarded. Nothing has changed.");
  }

  async save() {
    const { path } = await this.studio.ask("learn/save", { name: this.name.value });
    this.studio.tell(`Saved to ${path}`);
  }
}

/** Fill the view. */
export async function open(place, studio) {
  const view = new LearnView(place, studio);
  await view.update();
}
