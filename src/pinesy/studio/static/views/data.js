// The Data view: figures, two plots, and rows that open in Ask.
import { button, counted, fill, make } from "/shared/elements.js";
import { bar, card, shortDegree } from "/shared/parts.js";
import { chanceText, coveragePlot, percent, splitBar, surestPlot } from "../charts.js";
import { FreshView } from "../fresh_view.js";
import { JobLine } from "../jobs.js";
import { Pager, choice, field, missingData, segments, table } from "../tables.js";

const ROWS = 10;
/** The level that is shown first, or the highest below it. */
const LEVEL = 0.95;
const FILTERS = { all: "All", wrong: "Wrong", undecided: "Undecided", suspicious: "Suspicious label" };
const METHODS = [
  ["auto", "by the rules, without the row itself where they come from this data"],
  ["given", "by the rules as they are"],
  ["counts", "by counted certainties, without the row itself"],
  ["exact", "by exactly learned certainties, without the row itself"],
  ["gradient", "by fitted certainties, without the row itself"],
  ["induce", "by rules induced again, without the row itself"],
];
const SIGNS = {
  right: ["certain", "✓", "right"],
  wrong: ["conflict", "×", "wrong"],
  undecided: ["undecided", "?", "undecided"],
  contradiction: ["conflict", "!", "contradiction"],
};

class DatasetView extends FreshView {
  constructor(place, studio) {
    super(place, studio, "data");
    Object.assign(this, { filter: "all", level: LEVEL, figures: null, audit: null, attribute: null, method: "auto" });
    this.job = new JobLine(studio);
    this.auditJob = new JobLine(studio);
    this.learnJob = new JobLine(studio);
    this.metrics = make("div", { class: "metrics" });
    this.plots = make("div", { class: "plots" });
    this.edits = make("div", {});
    this.output = make("div", { class: "outputs" });
    this.split = make("div", {});
    this.confusion = make("div", {});
    this.filters = make("div", { class: "filters" });
    this.rows = make("div", { class: "rows-frame", "aria-live": "polite" });
    this.basis = make("p", { class: "small quiet" });
    this.pager = new Pager(ROWS, (start) => studio.attempt(() => this.page(start)));
    const judged = choice(METHODS, "auto", { onchange: () => this.judge(judged.value) });
    this.content = make(
      "div",
      { class: "stack" },
      this.output,
      this.metrics,
      this.plots,
      card(
        "Rows",
        this.filters,
        this.split,
        this.rows,
        this.pager.element,
        this.job.element,
        this.auditJob.element,
        make("details", { class: "more" }, make("summary", {}, "How labels are judged"), field("Labels are judged", judged), this.basis),
      ),
      this.edits,
      this.confusion,
    );
  }

  async load() {
    this.seen = this.key;
    this.stale = false;
    if (this.studio.dataFilter in FILTERS) this.filter = this.studio.dataFilter;
    const nothing = missingData(this.studio.state);
    if (nothing) {
      fill(this.place, nothing);
      return;
    }
    this.busy(true);
    this.receive(await this.studio.ask("data/overview"));
    fill(this.place, this.content);
    await this.refresh();
  }

  due() {
    if (this.studio.dataFilter && !this.stale) {
      this.filter = this.studio.dataFilter;
      this.studio.dataFilter = null;
      this.studio.attempt(() => this.page(0));
    }
    return this.stale;
  }

  busy(busy) {
    this.content.setAttribute("aria-busy", String(busy));
  }

  receive({ outputs, targets, edits }) {
    this.values = new Map(targets.map(({ name, values }) => [name, values]));
    this.labelled = targets.some(({ graded }) => !graded);
    const names = outputs.map(({ name }) => name);
    if (!names.includes(this.attribute)) this.attribute = null;
    const pick = choice([["", "all answers together"], ...outputs.map(({ name, title }) => [name, title])], this.attribute ?? "", {
      "aria-label": "answer",
      onchange: () => {
        this.attribute = pick.value || null;
        this.studio.attempt(() => this.refresh());
      },
    });
    fill(this.output, outputs.length > 1 ? field("Answers to", pick) : null);
    this.output.hidden = outputs.length < 2;
    this.showEdits(edits);
  }

  /** Compute figures and rows for the rules and labels as they are, then look at the labels. */
  async refresh() {
    this.audit = null;
    this.busy(true);
    const figures = await this.run(this.job, "data/figures", { attribute: this.attribute });
    if (!figures) return;
    this.figures = figures;
    if (!this.labelled || (this.filter !== "all" && !figures.counts[this.filter] && this.filter !== "suspicious")) this.filter = "all";
    this.draw();
    this.busy(false);
    if (this.filter !== "suspicious") await this.page(0);
    if (this.labelled) await this.judgeLabels();
    this.studio.dataFilter = null;
  }

  /** Run a job and return what it found; nothing if it was stopped, or another took its place. */
  async run(line, path, content) {
    const last = await line.run(await this.studio.ask(path, content));
    if (last?.state === "failed") throw new Error(last.error);
    return last?.state === "done" ? last.result : undefined;
  }

  judge(method) {
    this.method = method;
    return this.studio.attempt(() => this.judgeLabels());
  }

  async judgeLabels() {
    this.audit = (await this.run(this.auditJob, "data/audit", { method: this.method })) ?? null;
    if (this.audit) fill(this.basis, `${counted(this.audit.suspicious)} labels are suspicious, ${this.audit.basis}.`);
    this.drawMetrics();
    this.drawFilters();
    if (this.filter === "suspicious") await this.page(0);
  }

  // --- figures -----------------------------------------------------------------------------------

  draw() {
    this.drawMetrics();
    this.drawPlots();
    this.drawFilters();
    fill(this.split, splitBar(this.figures.counts));
    fill(this.confusion, confusionCard(this.figures.confusion));
    this.confusion.hidden = !this.confusion.children.length;
  }

  get coverage() {
    const { levels = [] } = this.figures.coverage;
    return levels.find(({ level }) => level === this.level) ?? levels.findLast(({ level }) => level <= LEVEL) ?? levels[0] ?? null;
  }

  drawMetrics() {
    const { counts, coverage, decisions } = this.figures;
    const { right, decided, samples, undecided, contradiction } = counts;
    const open = undecided + contradiction;
    const asked = this.coverage;
    const found = this.audit;
    const press = () => this.choose("suspicious");
    fill(
      this.metrics,
      counts.labelled
        ? metric("Right, where decided", decided ? percent(right / decided) : "–", [`${counted(right)} of ${counted(decided)} answers`, chanceText(counts.rightRange)])
        : metric("Right, where decided", "–", ["It takes rows with labels."]),
      metric("Decided", percent(decided / samples), [
        `${counted(decided)} of ${counted(samples)} rows`,
        open ? `${counted(open)} stay undecided` : "",
      ]),
      asked
        ? metric(`Covered, asked for ${percentLevel(asked.level)}`, percent(asked.observed), [chanceText([asked.low, asked.high]), `${percent(asked.single)} get a single answer`])
        : metric("Covered", "–", [coverage.missing]),
      decisions ? decidedAlone(decisions) : null,
      this.labelled
        ? metric("Suspicious labels", found ? counted(found.suspicious) : "…", ["labels that the rules contradict"], found?.suspicious ? press : null)
        : metric("Suspicious labels", "–", ["It takes rows with labels."]),
    );
  }

  drawPlots() {
    const { counts, curve, coverage } = this.figures;
    const levels = coverage.levels ?? [];
    const shown = levels.filter(({ level }) => [0.8, 0.9, 0.95, 0.98].includes(level)).map(({ level }) => [level, percentLevel(level)]);
    const pick = (level) => {
      this.level = level;
      this.drawMetrics();
      this.drawPlots();
      this.plots.querySelector('.segments [aria-pressed="true"]')?.focus();
    };
    const chance = "The thin bars are what chance allows; the promise is broken only where one lies below the dashed line.";
    fill(
      this.plots,
      curve.length
        ? card("Right among the surest rows", null, surestPlot(curve, counts), make("p", { class: "small quiet" }, "The surer rows should be right more often than all of them."))
        : null,
      levels.length
        ? card(
            "Asked for and got",
            segments("level", shown, this.coverage.level, pick),
            coveragePlot(levels, this.coverage.level),
            make("p", { class: "small quiet" }, `${coverage.how[0].toUpperCase()}${coverage.how.slice(1)}. ${chance}`),
          )
        : null,
    );
    this.plots.hidden = !this.plots.children.length;
  }

  // --- rows --------------------------------------------------------------------------------------

  drawFilters() {
    const { counts } = this.figures;
    const numbers = {
      all: counts.samples,
      wrong: counts.wrong,
      undecided: counts.undecided + counts.contradiction,
      suspicious: this.audit?.suspicious ?? (this.labelled ? null : 0),
    };
    const one = ([name, text]) =>
      button([text, make("b", {}, numbers[name] === null ? "…" : counted(numbers[name]))], () => this.choose(name), {
        class: "filter",
        "aria-pressed": String(name === this.filter),
        disabled: numbers[name] === null,
        "data-filter": name,
      });
    fill(this.filters, Object.entries(FILTERS).filter(([name]) => name === "all" || numbers[name] !== 0).map(one));
  }

  choose(filter) {
    this.filter = filter;
    this.drawFilters();
    this.filters.querySelector('[aria-pressed="true"]')?.focus();
    return this.studio.attempt(() => this.page(0));
  }

  async page(start) {
    const asked = { attribute: this.attribute, filter: this.filter, method: this.method, start, count: ROWS };
    const { rows, total } = await this.studio.ask("data/page", asked);
    const images = rows.some((row) => Object.keys(row.images).length);
    const heads = [images ? "Images" : "Row", images ? "Row" : "What is known", this.labelled ? "Label" : "", "Answer, certain", "It is", "Why look at it"];
    fill(this.rows, table(heads, rows.map((row) => this.line(row, images)), { class: "table rows" }));
    this.drawFilters();
    this.pager.show(start, rows.length, total, "A row opens in Ask.");
    this.place.dataset.shown = `${this.filter} ${start}`;
    this.studio.setFilter(this.filter);
  }

  line(row, images) {
    const name = Object.values(row.ids).join(" ") || `row ${row.row + 1}`;
    const open = () => this.open(row.row);
    const title = button(name, open, { class: "link strong", title: `line ${row.line}`, "aria-label": `Open ${name} in Ask` });
    const thumbs = Object.entries(row.images).flatMap(([input, src], i) => [i ? " " : "", make("img", { src, alt: input, class: "ink" })]);
    const isDecided = !["undecided", "contradiction"].includes(row.state);
    const look = { undecided: "undecided", contradiction: "conflict" }[row.state] ?? "";
    const cells = [
      images ? make("td", { class: "images" }, thumbs) : make("td", {}, title),
      images ? make("td", {}, title) : make("td", { class: "wide quiet" }, row.known),
      make("td", { class: "label" }, row.label === null ? "" : [make("span", { class: "small quiet phone" }, "label "), this.label(row, name)]),
      make(
        "td",
        { class: "wide" },
        make("span", { class: "answer-cell" }, make("span", {}, row.answer), bar(1, row.certainty, look), make("span", { class: "quiet" }, isDecided ? shortDegree(row.certainty) : "")),
      ),
      make("td", { class: "state" }, row.state in SIGNS ? sign(...SIGNS[row.state]) : ""),
      make("td", { class: "wide small quiet", title: row.reason ?? null }, row.remark),
    ];
    const press = (event) => event.target.closest("select, button") || open();
    return make("tr", { onclick: press }, cells);
  }

  label(row, name) {
    if (row.place === null) return make("b", {}, row.label);
    const options = this.values.get(row.attribute).map((text, place) => [place, text]);
    const select = choice(options, row.place, {
      class: "label-choice",
      "aria-label": `label of ${name}`,
      onchange: () => this.studio.attempt(() => this.relabel(row, Number(select.value))),
    });
    return select;
  }

  /** Look at a row in Ask. */
  open(row) {
    this.studio.setSample({ row, inputs: {} });
    this.studio.go("ask");
  }

  // --- labels ------------------------------------------------------------------------------------

  async relabel({ row, attribute }, place) {
    this.receive(await this.studio.ask("data/label", { row, attribute, place }));
    await this.follow();
  }

  /** Show what follows from other labels, on the page that is seen. */
  async follow() {
    const { start } = this.pager;
    await this.refresh();
    if (start) await this.page(start);
  }

  showEdits(edits) {
    this.edits.hidden = !edits.length;
    if (!edits.length) return fill(this.edits);
    const line = ({ row, line: at, attribute, was, now }) =>
      make("li", {}, `row ${counted(row + 1)} (line ${counted(at)}): ${attribute} ${was} → ${now}`);
    const undo = async () => {
      this.receive(await this.studio.ask("data/undo_label"));
      await this.follow();
    };
    const attempt = (text, action) => button(text, () => this.studio.attempt(action), { class: "btn" });
    this.consequences = make("div", { "aria-live": "polite" });
    return fill(
      this.edits,
      card(
        "Changed labels",
        null,
        make("p", { class: "quiet" }, "They count for all figures here and in Learn. The file stays as it is."),
        make("ul", { class: "plain-list" }, edits.slice(-20).map(line)),
        make("div", { class: "tools" }, attempt("Undo the last change", undo), attempt("What would learning change?", () => this.consider())),
        this.learnJob.element,
        this.consequences,
      ),
    );
  }

  async consider() {
    const host = this.consequences;
    const found = await this.run(this.learnJob, "data/consequences", { method: "counts" });
    if (!found) return fill(host, "Learning was stopped.");
    const text = `Learning gives another certainty to ${found.changed} of ${found.rules} rules.`;
    const line = ({ number, premise, conclusion, before, after }) =>
      make("li", { class: "rule" }, make("span", { class: "number" }, number), `${premise} → ${conclusion}: certain ${shortDegree(1 - before[1])} → ${shortDegree(1 - after[1])}`);
    return fill(host, make("p", {}, text), make("ul", { class: "plain-list" }, found.rows.map(line)));
  }
}

/** Return how often each label got each answer; nothing where it is not counted. */
function confusionCard(confusion) {
  if (!confusion) return null;
  const { title, labels, answers, counts } = confusion;
  const cell = (count, row, column) => {
    const kind = answers[column] === labels[row] ? "right" : column < labels.length ? "wrong" : "open";
    return make("td", { class: count ? kind : "quiet" }, count ? counted(count) : "·");
  };
  const lines = labels.map((label, row) => [
    make("th", { scope: "row" }, label),
    counts[row].map((count, column) => cell(count, row, column)),
  ]);
  const rows = lines.map((line) => make("tr", {}, line));
  return card(
    "Labels and answers",
    make("span", { class: "small quiet" }, `${title}: a row for each label, a column for each answer`),
    make("div", { class: "confusion", tabindex: 0, role: "group", "aria-label": "counts" }, table(["label", ...answers], rows, { class: "counts" })),
  );
}

const percentLevel = (level) => `${Number((100 * level).toFixed(1))} %`;

/** Return a figure: what, how much, of how many. */
function metric(label, figure, notes, onPress = null) {
  const parts = [
    make("span", { class: "label" }, label),
    make("span", { class: "figure" }, figure),
    make("span", { class: "note" }, notes.filter(Boolean).join("; ")),
  ];
  return onPress ? button(parts, onPress, { class: "card metric alert" }) : make("div", { class: "card metric" }, parts);
}

/** Return how many rows a model with a threshold decides alone, how many wrongly; the rest it hands over. */
function decidedAlone({ samples, decided, wrong, range, missing, promise }) {
  if (missing) return metric("Decided alone", "–", [missing]);
  const figure = metric("Decided alone", percent(decided / samples), [
    wrong === null ? `${counted(decided)} of ${counted(samples)} rows` : `${counted(wrong)} of ${counted(decided)} wrong`,
    wrong === null || !decided ? "" : chanceText(range),
    `${counted(samples - decided)} handed over`,
  ]);
  figure.title = promise;
  return figure;
}

function sign(kind, mark, word) {
  return make("span", { class: "mark" }, make("span", { class: `sign ${kind}`, "aria-hidden": "true" }, mark), word);
}

/** Fill the view. */
export async function open(place, studio) {
  const view = new DatasetView(place, studio);
  await view.update();
}
