// The Sample view: set the inputs, see what the rules make of them, at once.
import { DistributionBars } from "/shared/bars.js";
import { button, degreeText, fill, make } from "/shared/elements.js";
import { InputControl } from "/shared/inputs.js";
import { RuleGraph } from "../graph.js";
import { address, DigitPad } from "../pad.js";
import { RowPicker } from "../rows.js";
import { later, latest } from "../timing.js";

/** Attributes of a kind that are open from the start, and that are listed at all. */
const OPEN = 12;
const LISTED = 100;

/** Put names in the order in which people count: y_2 before y_10. */
const byName = (a, b) => a.name.localeCompare(b.name, "en", { numeric: true });

class SampleView {
  constructor(place, studio) {
    Object.assign(this, { place, studio, controls: new Map(), pads: new Map(), bars: new Map() });
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.inputs = make("div", { class: "inputs" });
    this.outputs = make("div", { class: "outputs" });
    this.others = make("div", { class: "others" });
    this.graph = new RuleGraph(studio);
    this.predicted = make("p", { class: "predicted", "aria-live": "polite", hidden: true });
    this.points = make("pre", { class: "points", tabindex: 0, hidden: true });
    this.rows = new RowPicker(studio, (row) => this.pick(row));
    this.infer = latest(() => this.inferred());
    this.lightLater = later(120, () => this.light());
    const reset = button("Nothing is known", () => this.forget());
    fill(
      place,
      make("div", { class: "columns" },
        make("section", { "aria-label": "inputs" },
          this.rows.element, make("div", { class: "heading" }, make("h2", {}, "Inputs"), reset), this.inputs),
        make("section", { "aria-label": "answers" },
          make("h2", {}, "Answers"), this.error, this.predicted, this.outputs,
          make("h2", {}, "What decides"), this.points, this.graph.element,
          make("h2", {}, "All attributes"), this.others)),
    );
  }

  /** Make controls and bars for the rules as they are now. */
  async load() {
    const { attributes, domains, pictured, hasCard } = await this.studio.ask("sample/form");
    this.hasCard = hasCard;
    this.predicted.hidden = this.points.hidden = !hasCard;
    this.graph.element.hidden = hasCard;
    this.version = this.studio.state.version;
    this.pictured = new Set(pictured);
    this.rows.element.open = !pictured.length; // who can draw looks for the pads first
    const all = attributes.map((a) => ({ formula: null, scale: null, ...a, values: domains[a.domain] }));
    this.attributes = all;
    const inputs = all.filter((a) => a.role === "input");
    this.controls = new Map(inputs.map((a) => [a.name, new InputControl(a, () => this.changed(a.name))]));
    this.pads = new Map(inputs.filter((a) => this.pictured.has(a.name)).map((a) => [a.name, this.pad(a)]));
    fill(this.inputs, inputs.map((a) => this.inputElement(a)));
    this.bars = new Map();
    const outputs = all.filter((a) => a.role === "output").sort(byName);
    fill(this.outputs, outputs.slice(0, LISTED).map((a) => this.bar(a).element));
    this.list(all.filter((a) => a.role !== "output"));
    const known = (name) => this.controls.has(name);
    const kept = Object.entries(this.studio.sample.inputs).filter(([name]) => known(name));
    this.sample = { ...this.studio.sample, inputs: Object.fromEntries(kept) };
    await Promise.all([hasCard ? null : this.graph.load(), this.rows.load()]);
    if (this.isBlank && this.rows.total) this.sample = { row: 0, inputs: {} };
    this.studio.setSample(this.sample);
    await this.fillControls();
    await this.infer();
  }

  /** Whether nobody has said anything of the sample yet. */
  get isBlank() {
    return !this.forgotten && this.sample.row === null && !Object.keys(this.sample.inputs).length;
  }

  /** Show rows that were read meanwhile; the first of them is a sample to begin with. */
  async refresh() {
    await this.rows.refresh();
    if (this.isBlank && this.rows.total) await this.pick(0);
  }

  inputElement(attribute) {
    const control = this.controls.get(attribute.name).element;
    const pad = this.pads.get(attribute.name);
    return pad ? make("div", { class: "pictured" }, pad.element, control) : control;
  }

  pad(attribute) {
    return new DigitPad(this.studio, attribute.name, (image) => {
      const control = this.controls.get(attribute.name);
      // While one draws, what was read before stays until the next reading comes.
      control.set(image ? control.setting : {}, image ? address(image) : "");
      this.put(attribute.name, image ? { image } : {});
    });
  }

  // --- attributes and their bars ---

  bar(attribute) {
    const bars = new DistributionBars(attribute, (a, place) => this.ask(a, place));
    this.bars.set(attribute.name, bars);
    return bars;
  }

  list(attributes) {
    const found = make("div", {});
    const filter = make("input", { type: "search", placeholder: "find an attribute" });
    filter.setAttribute("aria-label", "find an attribute");
    const shown = () => {
      const text = filter.value.toLowerCase();
      const fitting = attributes.filter((a) => a.name.toLowerCase().includes(text));
      const left = fitting.length - LISTED;
      fill(found, fitting.slice(0, LISTED).map((a) => this.details(a, attributes.length <= OPEN)),
        left > 0 ? make("p", { class: "quiet" }, `${left} more; write a part of the name`) : null);
    };
    filter.addEventListener("input", later(150, shown));
    fill(this.others, attributes.length > OPEN ? filter : null, found);
    shown();
  }

  details(attribute, open) {
    const bars = new DistributionBars(attribute, (a, place) => this.ask(a, place));
    const element = make("details", { open }, make("summary", {}, attribute.formula ?? attribute.name), bars.element);
    element.dataset.attribute = attribute.name;
    element.addEventListener("toggle", () => {
      if (element.open) this.bars.set(attribute.name, bars);
      else this.bars.delete(attribute.name);
      if (element.open) this.infer();
    });
    if (open) this.bars.set(attribute.name, bars);
    return element;
  }

  /** Ask why a value has its degrees: that is another view. */
  ask(attribute, place) {
    if (attribute.role === "input") {
      this.studio.tell(`${attribute.name} is an input: it is given, no rule concludes on it.`);
      return;
    }
    this.studio.question = { attribute: attribute.name, place };
    this.studio.go("why");
  }

  // --- the sample ---

  changed(name) {
    const { setting } = this.controls.get(name);
    this.pads.get(name)?.wipe();
    this.controls.get(name).set(setting, "");
    this.put(name, setting);
  }

  put(name, content) {
    performance.mark("sample-change");
    const { row, inputs } = this.sample;
    this.set({ row, inputs: { ...inputs, [name]: content } });
  }

  set(sample) {
    this.sample = sample;
    this.studio.setSample(sample);
    this.infer();
  }

  async pick(row) {
    this.set({ row, inputs: {} });
    await this.studio.attempt(() => this.fillControls());
  }

  forget() {
    this.forgotten = true;
    this.set({ row: null, inputs: {} });
    this.fillControls();
  }

  /** Show the sample in the controls. */
  async fillControls() {
    const { row, inputs } = this.sample;
    const given = row === null ? { inputs: {}, images: {} } : await this.studio.ask("sample/row", { row });
    for (const [name, control] of this.controls) {
      const content = inputs[name] ?? given.inputs[name] ?? {};
      const seen = inputs[name] ? "" : given.images[name] ?? "";
      const image = content.image ? address(content.image) : seen;
      control.set(content.image ? {} : content, image);
      this.pads.get(name)?.show(image);
    }
    this.rows.mark(row, given.targets);
  }

  async inferred() {
    const { sample } = this; // it may be another when the answer comes
    const seen = Object.keys(sample.inputs).filter((name) => sample.inputs[name].image);
    const shown = [...new Set([...this.bars.keys(), ...seen])];
    try {
      const { degrees, heights, verdicts, card } = await this.studio.ask("sample/infer", { sample, shown });
      this.fail("");
      if (card) this.showCard(card);
      for (const name of shown) {
        if (degrees[name]) this.bars.get(name)?.show(degrees[name], heights[name], verdicts[name]);
      }
      // What a network makes of a drawing stands beside it, while one draws too; unless it is wiped.
      for (const name of seen.filter((n) => this.sample.inputs[n]?.image)) {
        this.controls.get(name)?.set({ degrees: degrees[name] });
      }
      if (!this.hasCard) this.lightLater();
    } catch (error) {
      if (error.status !== 0) this.fail(error.message);
    }
    if (performance.getEntriesByName("sample-change").length) {
      performance.measure("sample-shown", "sample-change");
      performance.clearMarks("sample-change");
    }
    this.place.dataset.shown = JSON.stringify(sample);
  }

  /** Show the class that the score card predicts, and what its lines give. */
  showCard({ attribute, probability, text, ...card }) {
    const { values } = this.attributes.find((a) => a.name === attribute);
    const chance = degreeText(probability[card.class]);
    fill(this.predicted, `Predicted: ${attribute} is ${values[card.class]}, with probability ${chance}`);
    fill(this.points, text);
  }

  fail(text) {
    this.error.hidden = !text;
    fill(this.error, text);
    this.outputs.classList.toggle("stale", Boolean(text));
    this.others.classList.toggle("stale", Boolean(text));
  }

  async light() {
    try {
      this.graph.light(await this.studio.ask("sample/path", { sample: this.sample }));
    } catch {
      this.graph.light({ attributes: [], links: [], clashes: [] });
    }
  }
}

/** Show what the rules make of the sample. */
export async function open(place, studio) {
  const view = new SampleView(place, studio);
  studio.addEventListener("state", () => {
    if (studio.state.version !== view.version) studio.attempt(() => view.load());
    else studio.attempt(() => view.refresh());
  });
  studio.addEventListener("sample", () => {
    if (studio.sample === view.sample) return;
    view.sample = studio.sample;
    studio.attempt(() => view.fillControls());
    view.infer();
  });
  await view.load();
}
