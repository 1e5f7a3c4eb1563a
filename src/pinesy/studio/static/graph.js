// The cascade as a picture: boxes in layers, zoomed and panned; the path that decides can be lit.
import { button, draw, fill, make } from "/shared/elements.js";

const STEP_X = 210;
const STEP_Y = 44;
const BOX = { width: 150, height: 30 };
/** Letters that fit into a box. */
const LETTERS = 19;
/** How much a key or a turn of the wheel zooms and pans. */
const ZOOM = 1.2;
const PAN = 0.12;

const short = (text) => (text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text);

/** Return what a box is called, and what it tells when it is pointed at. */
function words(box) {
  const first = box.members[0];
  if (box.count === 1) return [first, `${first}${box.rules ? `: ${box.rules} rules` : ": input"}`];
  const more = box.count > box.members.length ? ", …" : "";
  return [`${box.count} × ${first}`, `${box.count} alike: ${box.members.join(", ")}${more}. Open`];
}

export class RuleGraph {
  constructor(studio) {
    this.studio = studio;
    this.unfolded = new Set();
    this.boxes = new Map();
    this.links = [];
    this.home = {};
    this.svg = draw("svg", {
      class: "graph", role: "group", tabindex: 0,
      "aria-label": "the rules as a graph; arrows pan, plus and minus zoom",
    });
    const tool = (text, label, onclick) => button(text, onclick, { "aria-label": label });
    this.refold = tool("Fold", "fold like attributes again", () => this.open(null));
    this.element = make(
      "div",
      { class: "graph-frame" },
      this.svg,
      make(
        "div",
        { class: "graph-tools" },
        this.refold,
        tool("+", "zoom in", () => this.zoom(1 / ZOOM)),
        tool("−", "zoom out", () => this.zoom(ZOOM)),
        tool("Fit", "show the whole graph", () => this.fit()),
      ),
    );
    this.listen();
    new ResizeObserver(() => this.size && this.fit()).observe(this.svg);
  }

  /** Draw the rules as they are now. */
  async load() {
    const found = await this.studio.ask("rules/graph", { unfolded: [...this.unfolded] });
    this.show(found);
  }

  async open(key) {
    if (key === null) this.unfolded.clear();
    else this.unfolded.add(key);
    await this.studio.attempt(() => this.load());
    if (this.path) this.light(this.path);
  }

  show({ boxes, links, home }) {
    this.home = home;
    this.refold.hidden = !this.unfolded.size;
    const tallest = Math.max(...boxes.map((box) => box.rank)) + 1;
    const sizes = new Map();
    for (const box of boxes) sizes.set(box.layer, (sizes.get(box.layer) ?? 0) + 1);
    const place = (box) => ({
      x: box.layer * STEP_X,
      y: (box.rank + (tallest - sizes.get(box.layer)) / 2) * STEP_Y,
    });
    this.boxes = new Map(boxes.map((box) => [box.key, { ...place(box), element: this.box(box, place(box)) }]));
    this.links = links.map(([from, to, count]) => ({ from, to, element: this.link(from, to, count) }));
    const layers = draw("g", {}, ...this.links.map((l) => l.element));
    layers.append(...[...this.boxes.values()].map((b) => b.element));
    fill(this.svg, layers);
    this.size = {
      width: (Math.max(...boxes.map((box) => box.layer)) + 1) * STEP_X,
      height: tallest * STEP_Y,
    };
    this.fit();
  }

  box(box, { x, y }) {
    const [name, description] = words(box);
    const open = () => this.open(box.key);
    const pressed = {
      role: "button", tabindex: 0, "aria-label": description, onclick: open,
      onkeydown: (event) => event.key === "Enter" && open(),
    };
    return draw(
      "g",
      {
        class: `box ${box.role}${box.count > 1 ? " folded" : ""}`,
        transform: `translate(${x} ${y})`,
        "data-key": box.key,
        ...(box.count > 1 ? pressed : {}),
      },
      draw("title", {}, description),
      draw("rect", { ...BOX, rx: 6 }),
      draw("text", { x: BOX.width / 2, y: BOX.height / 2 }, short(name)),
    );
  }

  link(from, to, count) {
    const [a, b] = [this.boxes.get(from), this.boxes.get(to)];
    const [x1, y1] = [a.x + BOX.width, a.y + BOX.height / 2];
    const [x2, y2] = [b.x, b.y + BOX.height / 2];
    const bend = Math.max(30, (x2 - x1) / 2);
    const d = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
    return draw("path", { class: "link", d, "stroke-width": Math.min(1 + Math.log10(count), 4) });
  }

  /** Light what decides: attributes, links between them, and attributes on which rules clash. */
  light(path) {
    this.path = path;
    const home = (name) => this.home[name] ?? name;
    const lit = new Set(path.attributes.map(home));
    const clashing = new Set(path.clashes.map(home));
    const linked = new Set(path.links.map(([from, to]) => `${home(from)}\n${home(to)}`));
    for (const [key, { element }] of this.boxes) {
      element.classList.toggle("lit", lit.has(key));
      element.classList.toggle("clash", clashing.has(key));
    }
    for (const { from, to, element } of this.links) {
      element.classList.toggle("lit", linked.has(`${from}\n${to}`));
    }
  }

  // --- zooming and panning ---

  /** Show all of it, small graphs not larger than life. */
  fit() {
    const [width, height] = [this.size.width - STEP_X + BOX.width, this.size.height];
    const [w, h] = [Math.max(width + 30, this.svg.clientWidth), Math.max(height + 30, this.svg.clientHeight)];
    this.setView((width - w) / 2, (height - h) / 2, w, h);
  }

  setView(x, y, width, height) {
    this.view = { x, y, width, height };
    this.svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  }

  zoom(factor, at = { x: 0.5, y: 0.5 }) {
    const { x, y, width, height } = this.view;
    if (width * factor < 60 || width * factor > 100 * this.size.width) return;
    const [w, h] = [width * factor, height * factor];
    this.setView(x + (width - w) * at.x, y + (height - h) * at.y, w, h);
  }

  pan(right, down) {
    const { x, y, width, height } = this.view;
    this.setView(x + right * width, y + down * height, width, height);
  }

  listen() {
    const moves = { ArrowLeft: [-PAN, 0], ArrowRight: [PAN, 0], ArrowUp: [0, -PAN], ArrowDown: [0, PAN] };
    this.svg.addEventListener("keydown", (event) => {
      if (moves[event.key]) this.pan(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(1 / ZOOM);
      else if (event.key === "-") this.zoom(ZOOM);
      else if (event.key === "0") this.fit();
      else return;
      event.preventDefault();
    });
    this.svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== this.svg) return; // the page scrolls
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? ZOOM : 1 / ZOOM, this.share(event));
    }, { passive: false });
    this.drag();
  }

  /** Return where in the picture an event is, from 0 to 1. */
  share(event) {
    const frame = this.svg.getBoundingClientRect();
    return {
      x: (event.clientX - frame.left) / frame.width,
      y: (event.clientY - frame.top) / frame.height,
    };
  }

  drag() {
    const held = new Map();
    const distance = () => {
      const [a, b] = [...held.values()];
      return Math.hypot(a.x - b.x, a.y - b.y);
    };
    this.svg.addEventListener("pointerdown", (event) => held.set(event.pointerId, this.share(event)));
    this.svg.addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (!before) return;
      const now = this.share(event);
      if (Math.hypot(now.x - before.x, now.y - before.y) < 0.004) return; // a click, not a drag
      this.svg.setPointerCapture(event.pointerId);
      const apart = held.size === 2 && distance();
      held.set(event.pointerId, now);
      if (apart) this.zoom(apart / (distance() || apart), now);
      else this.pan(before.x - now.x, before.y - now.y);
    });
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
      this.svg.addEventListener(name, (event) => held.delete(event.pointerId));
    }
  }
}
