// The Learn view: ask what the rows say about the rules; nothing changes until the answer is used.
import { button, counted, fill, make } from "/shared/elements.js";
import { card, shortDegree } from "/shared/parts.js";
import { splitBar } from "../charts.js";
import { FreshView } from "../fresh_view.js";
import { JobLine } from "../jobs.js";
import { scoreLines } from "../score_lines.js";
import { Pager, checks, choice, field, missingData, namesChecked, table } from "../tables.js";

const ROWS = 20;
const METHODS = [
  ["counts", "rows may be wrong: count"],
  ["exact", "rules must hold: exact"],
  ["gradient", "rows may be wrong: fit the rules together"],
];
const FIXED = [
  ["implications", "what rules say where they do not apply"],
  ["", "nothing"],
  ["s", "every certainty of the converse (s)"],
  ["r", "every certainty of the rule (r)"],
];
const SHARES = [
  [1 / 3, "a third of the rows"],
  [0.2, "a fifth of the rows"],
  [0, "none: learn from all rows"],
];

class LearnView extends FreshView {
  constructor(place, studio) {
    super(place, studio, "learn");
    Object.assign(this, { option: "", all: false });
    this.job = new JobLine(studio);
    this.choices = make("section", { class: "card", "aria-label": "What do you want to know?" });
    this.result = make("div", { class: "stack", "aria-live": "polite" });
    this.content = make("div", { class: "learn-columns" }, this.choices, this.result);
    this.method = choice(METHODS, "counts", { onchange: () => this.showFields() });
    this.smoothing = make("input", { type: "number", min: 0, step: "any", value: 1 });
    this.tolerance = make("input", { type: "number", min: 0, max: 1, step: "any", placeholder: "none" });
    this.fixed = choice(FIXED, "implications");
    this.share = choice(SHARES, 1 / 3, { onchange: () => this.showFacts() });
    this.targets = make("span", { class: "checks" });
    this.target = make("select", { onchange: () => this.showFacts() });
    this.maxRules = make("input", { type: "number", min: 1, step: 1, placeholder: "as many as pay" });
    this.seed = make("input", { type: "number", min: 0, step: 1, value: 0 });
    this.facts = make("dl", { class: "facts" });
    this.fields = make("div", { class: "more-fields" });
    this.startButton = button("Learn", () => this.begin(), { class: "btn main" });
    this.rules = make("div", {});
    this.pager = new Pager(ROWS, (start) => this.studio.attempt(() => this.page(start)));
  }

  async load() {
    this.seen = this.key;
    this.stale = false;
    const found = (this.found = await this.studio.ask("learn/choices"));
    const nothing = missingData(this.studio.state, found.columns);
    fill(this.place, nothing ?? this.content);
    if (nothing) return;
    this.showChoices();
    const { job } = await this.studio.ask("learn/status");
    if (!job || job.decided) this.showStart();
    else await this.watch(job);
  }

  // --- what to learn -----------------------------------------------------------------------------

  get options() {
    const { targets, missing, hasCard, file } = this.found;
    const labels = targets.length ? "" : "The rows have no labels of what the rules conclude on.";
    const needs = missing.length ? `It takes ${missing.join(" and ")}: pip install ${missing.join(" ")}.` : "";
    return [
      ["tune", "How certain are my rules?", "Keeps every rule and finds from the rows how certain each one is.", hasCard ? "A score card has its certainties from the rows it was found in." : labels],
      ["induce", "Find rules in the table", "Writes a short score card that predicts the answer from the other columns.", file ? needs : "It takes rows from a file."],
      ["check", "Only check the labels", "Changes nothing. Lists the rows whose label the rules contradict.", labels],
    ];
  }

  showChoices() {
    const { targets, columns, edits } = this.found;
    const usable = this.options.filter(([, , , reason]) => !reason);
    if (!usable.some(([id]) => id === this.option)) this.option = usable[0]?.[0] ?? "";
    fill(this.targets, checks(targets));
    fill(this.target, columns.map((name) => make("option", { value: name }, name)));
    const one = ([id, title, help, reason]) => {
      const box = make("input", {
        type: "radio", name: "learn-option", value: id, checked: id === this.option, disabled: Boolean(reason),
        onchange: () => {
          this.option = id;
          this.showFields();
          this.showFacts();
        },
      });
      return make("label", { class: "option" }, box, make("b", {}, title), make("span", { class: "help" }, reason || help));
    };
    fill(
      this.choices,
      make("header", {}, make("h2", {}, "What do you want to know?")),
      this.options.map(one),
      this.facts,
      edits ? make("p", { class: "small quiet" }, `${counted(edits)} labels were changed in Data; they count here.`) : null,
      make("details", { class: "more" }, make("summary", {}, "More choices"), this.fields),
      make("div", { class: "tools" }, this.startButton),
      this.job.element,
    );
    this.showFields();
    this.showFacts();
  }

  showFields() {
    const exact = this.method.value === "exact";
    const shown = {
      tune: [
        field("How", this.method),
        exact ? field("Leave out rows that are off by", this.tolerance) : field("Smooth by so many rows", this.smoothing),
        field("Keep", this.fixed),
        this.found.targets.length > 1 ? make("div", { class: "choice-field" }, make("span", {}, "Labels of"), this.targets) : null,
        field("Try on", this.share),
      ],
      induce: [
        field("Column to predict", this.target), field("Lines at most", this.maxRules), field("Seed", this.seed),
        field("Try on", this.share),
      ],
    };
    fill(this.fields, shown[this.option] ?? make("p", { class: "small quiet" }, "In Data, under Rows, you choose how labels are judged."));
    fill(this.startButton, this.option === "check" ? "Check" : "Learn");
    this.startButton.disabled = !this.option;
  }

  /** Say what is done by default: from which rows, which answer, tried on what. */
  showFacts() {
    const { file, rows, targets } = this.found;
    const kept = Number(this.share.value);
    const tried = rows.tried ? Math.round(kept * rows.all) : 0;
    const answer = this.option === "induce" ? this.target.value : targets.join(", ");
    const pairs = [
      ["From", `${file || "the data"}, ${counted(this.option === "check" ? rows.all : rows.all - tried)} rows`],
      ["True answer in", answer || "–"],
    ];
    if (this.option !== "check") pairs.push(["Tried on", tried ? `the other ${counted(tried)} rows` : "the same rows: they are few, or you want it so"]);
    if (this.option === "tune") pairs.push(["Rows", this.method.selectedOptions[0].textContent]);
    fill(this.facts, pairs.map(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]));
  }

  begin() {
    const whole = (input) => (input.value === "" ? null : Number(input.value));
    const share = Number(this.share.value);
    if (this.option === "check") return this.studio.attempt(() => this.checkLabels());
    const content =
      this.option === "induce"
        ? { target: this.target.value, max_rules: whole(this.maxRules), seed: whole(this.seed) ?? 0, share }
        : {
            method: this.method.value, tolerance: whole(this.tolerance), smoothing: whole(this.smoothing) ?? 0,
            fixed: this.fixed.value || null, targets: namesChecked(this.targets), share,
          };
    const path = this.option === "induce" ? "learn/induce" : "learn/start";
    return this.studio.attempt(async () => this.watch(await this.studio.ask(path, content)));
  }

  // --- what was learned --------------------------------------------------------------------------

  showStart(text = "Nothing changes until you say so: you see first what the new rules would answer.") {
    fill(this.result, card("Before and after", null, make("div", { class: "empty" }, make("p", { class: "quiet" }, text))));
  }

  async checkLabels() {
    this.startButton.disabled = true;
    const last = await this.job.run(await this.studio.ask("data/audit", {}));
    this.startButton.disabled = false;
    if (last?.state === "failed") throw new Error(last.error);
    if (last?.state !== "done") return;
    const { suspicious, samples, basis } = last.result;
    const title = suspicious === 1 ? "1 suspicious label" : `${counted(suspicious)} suspicious labels`;
    const see = () => {
      this.studio.dataFilter = "suspicious";
      this.studio.go("data");
    };
    fill(
      this.result,
      card(
        title,
        make("span", { class: "small quiet" }, `in ${counted(samples)} rows`),
        make("p", {}, `The labels were ${basis}.`),
        suspicious ? make("div", { class: "tools" }, button("Show them in Data", see, { class: "btn main" })) : null,
      ),
    );
  }

  /** Show a job, whoever began it, to its end. */
  async watch(status) {
    this.result.setAttribute("aria-busy", "true");
    this.startButton.disabled = true;
    const last = await this.job.run(status);
    this.startButton.disabled = false;
    this.result.setAttribute("aria-busy", "false");
    if (!last) return;
    if (last.decided) this.showStart();
    if (last.state === "failed") this.showFailure(last.error);
    if (last.state === "stopped") this.showStart("Stopped. Nothing has changed.");
    if (last.state === "done" && !last.decided) await this.show(last.result);
  }

  showFailure(error) {
    const text = make("p", { class: "mark" }, make("span", { class: "sign conflict", "aria-hidden": "true" }, "!"), error);
    fill(this.result, card("It could not be learned", null, text, make("p", { class: "quiet" }, "Nothing has changed.")));
  }

  async show({ induced, trial, card: lines }) {
    const attempt = (text, action, kind = "") => button(text, () => this.studio.attempt(action), { class: `btn ${kind}` });
    const name = make("input", { type: "text", value: "learned.json", "aria-label": "Name of the new file" });
    const saving = make("span", { class: "tools", hidden: true }, name, attempt("Save", () => this.save(name.value)));
    const openSaving = () => {
      saving.hidden = false;
      name.focus();
    };
    const where = trial.unseen ? "that were not learned from" : "that they were learned from";
    const line = (title, counts) => (counts ? [make("b", {}, title), splitBar(counts)] : null);
    fill(
      this.result,
      card(
        trial.title,
        make("span", { class: "small quiet" }, `on ${counted(trial.after.samples)} rows ${where}`),
        make("div", { class: "pairs" }, line("Before", trial.before), line("After", trial.after)),
        make("p", { class: "after" }, trial.text),
        make(
          "div",
          { class: "tools" },
          attempt("Use the new rules", () => this.accept(), "main"),
          attempt("Keep mine", () => this.discard()),
          button("Save as a file…", openSaving, { class: "btn plain" }),
          saving,
        ),
      ),
      induced
        ? lines && card("The score card that was found", make("span", { class: "small quiet" }, "the class with most points is the answer"), scoreLines(lines))
        : card("How certain each rule is", dumbbellLegend(), this.rules, this.pager.element),
    );
    if (!induced) await this.page(0);
  }

  async page(start) {
    const found = await this.studio.ask("learn/parameters", { start, count: ROWS, all: this.all });
    const toggle = () => {
      this.all = !this.all;
      return this.studio.attempt(() => this.page(0));
    };
    const changed = `${counted(found.changed)} of ${counted(found.rules)} rules changed. `;
    const heads = ["Rule", "0 – certainty – 1", "before", "after", "In the rows"];
    fill(
      this.rules,
      found.rows.length ? table(heads, found.rows.flatMap(ruleRows), { class: "table certainties" }) : null,
      make("p", { class: "small quiet" }, changed, button(this.all ? "Show those that changed" : "Show all rules", toggle, { class: "link" })),
    );
    this.pager.show(start, found.rows.length, found.total);
    this.pager.element.hidden = found.total <= ROWS;
  }

  async accept() {
    await this.studio.ask("learn/accept");
    const undo = () => this.studio.attempt(async () => this.studio.receive(await this.studio.ask("shell/undo")));
    this.studio.tell("The new rules answer now, in all views.", "note", { Undo: undo });
    this.showStart("The new rules are used.");
    await this.studio.refresh();
  }

  async discard() {
    await this.studio.ask("learn/discard");
    this.showStart("Your rules are as they were.");
  }

  async save(name) {
    const { path } = await this.studio.ask("learn/save", { name });
    this.studio.tell(`Saved to ${path}`);
  }
}

/** Return the rows of a rule: its certainty, and that of its converse if it has one. */
function ruleRows({ number, premise, conclusion, before, after, held }) {
  const [s, r] = [0, 1].map((i) => [1 - before[i], 1 - after[i]]);
  const rule = make("span", {}, make("span", { class: "number" }, number), `${premise} → ${conclusion}`);
  const rows = [dumbbellRow(rule, r, held ? heldText(held) : "")];
  if (s[0] || s[1]) rows.push(dumbbellRow(make("span", { class: "quiet" }, `otherwise not ${conclusion}`), s, ""));
  return rows;
}

function heldText([right, total]) {
  const rounded = Math.round(total);
  if (total < 0.5) return "hardly ever applied";
  return `held in ${counted(Math.round(right))} of ${counted(rounded)} ${rounded === 1 ? "row" : "rows"}`;
}

function dumbbellRow(rule, [before, after], note) {
  const at = (name, degree) => {
    const element = make("i", { class: name });
    element.style.left = `${100 * degree}%`;
    return element;
  };
  const span = make("s", {});
  span.style.left = `${100 * Math.min(before, after)}%`;
  span.style.width = `${100 * Math.abs(before - after)}%`;
  return make(
    "tr",
    {},
    make("td", { class: "wide rule" }, rule),
    make("td", { class: "wide" }, make("div", { class: "dumbbell", "aria-hidden": "true" }, span, at("before", before), at("after", after))),
    make("td", { class: "r quiet" }, make("span", { class: "phone" }, "before "), shortDegree(before)),
    make("td", { class: "r" }, make("span", { class: "phone quiet" }, "after "), make("b", {}, shortDegree(after))),
    make("td", { class: "small quiet wide" }, note),
  );
}

function dumbbellLegend() {
  const one = (name) => make("span", {}, make("i", { class: `dumbbell-dot ${name}` }), name);
  return make("div", { class: "legend" }, one("before"), one("after"));
}

/** Fill the view. */
export async function open(place, studio) {
  const view = new LearnView(place, studio);
  await view.update();
}
