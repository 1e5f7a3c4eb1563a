// A pad to draw a digit on, by mouse, pen or finger; or to drop or choose a picture of one.
import { button, fill, make } from "/shared/elements.js";
import { readingBars } from "/shared/inputs.js";
import { latest } from "./timing.js";

/** Pixels of the canvas along a side, and of the drawing that is sent. */
const SIDE = 196;
const SENT = 98;
const PEN = 16;

export class DigitPad {
  /** `onDigit(image)` is given what the network sees, and null when the pad is wiped. */
  constructor(studio, attribute, onDigit) {
    Object.assign(this, { studio, attribute, onDigit });
    const { title } = attribute;
    this.canvas = make("canvas", { width: SIDE, height: SIDE, role: "img", "aria-label": `draw ${title} here` });
    this.context = this.canvas.getContext("2d", { willReadFrequently: true });
    this.hint = make("span", { class: "hint", "aria-hidden": "true" }, "draw a digit");
    const clear = button("Clear", () => this.clear(), { class: "btn plain tiny", "aria-label": `clear ${title}` });
    const file = make("input", {
      type: "file", accept: "image/*", class: "unseen", "aria-label": `a picture of ${title}`,
      onchange: () => this.take(file.files[0]),
    });
    this.reading = make("div", {});
    this.element = make(
      "div",
      {},
      make("b", {}, title),
      make("div", { class: "pad" }, this.canvas, this.hint),
      make("div", { class: "pad-head" }, clear, make("label", { class: "btn plain tiny" }, "Picture…", file)),
      this.reading,
    );
    this.send = latest(() => studio.attempt(() => this.read()));
    this.wipe();
    this.showReading({});
    this.listen();
  }

  /** Show what the digit is taken for. */
  showReading(setting) {
    fill(this.reading, readingBars(this.attribute, setting));
  }

  wipe() {
    Object.assign(this.context, { fillStyle: "#000", strokeStyle: "#fff", lineWidth: PEN });
    Object.assign(this.context, { lineCap: "round", lineJoin: "round" });
    this.context.fillRect(0, 0, SIDE, SIDE);
    this.drawn = this.stale = false;
    this.hint.hidden = false;
  }

  clear() {
    this.wipe();
    this.onDigit(null);
  }

  /** Show an image, as an address that holds it, and what it is taken for. */
  async show(address, setting) {
    this.wipe();
    this.showReading(setting);
    if (!address) return;
    this.hint.hidden = true;
    const image = make("img", { src: address });
    await image.decode();
    this.put(image, image.naturalWidth, image.naturalHeight);
    this.stale = true;
  }

  put(image, width, height) {
    const factor = SIDE / Math.max(width, height);
    const [w, h] = [width * factor, height * factor];
    this.context.drawImage(image, (SIDE - w) / 2, (SIDE - h) / 2, w, h);
    this.drawn = true;
    this.hint.hidden = true;
  }

  listen() {
    let frame = null; // of the canvas when the stroke began: a page that moves bends no line
    let last = null;
    const point = (event) => {
      const factor = SIDE / frame.width;
      return [(event.clientX - frame.left) * factor, (event.clientY - frame.top) * factor];
    };
    const stroke = (event) => {
      const next = point(event);
      this.context.beginPath();
      if (last) {
        this.context.moveTo(...last);
        this.context.lineTo(...next);
        this.context.stroke();
      } else {
        // Canvases draw nothing for a line of length 0, round caps or not: the pen leaves a dot.
        this.context.arc(...next, PEN / 2, 0, 2 * Math.PI);
        this.context.fillStyle = "#fff";
        this.context.fill();
      }
      last = next;
      this.drawn = this.hint.hidden = true;
      this.send();
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      frame = this.canvas.getBoundingClientRect();
      last = null;
      if (this.stale) this.wipe(); // one does not draw over what was there
      stroke(event);
    });
    this.canvas.addEventListener("pointermove", (event) => event.buttons && last && stroke(event));
    this.canvas.addEventListener("pointerup", () => (last = null));
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => {
      event.preventDefault();
      this.take(event.dataTransfer.files[0]);
    });
  }

  /** Take a picture from a file. */
  async take(file) {
    if (!file) return;
    try {
      const image = await createImageBitmap(file);
      this.wipe();
      this.context.fillStyle = "#fff"; // what is clear in a picture is paper
      this.context.fillRect(0, 0, SIDE, SIDE);
      this.put(image, image.width, image.height);
      await this.send();
    } catch {
      this.studio.tell(`${file.name} is no picture that this browser can read.`, "error");
    }
  }

  /** Ask for what the network sees of the drawing, and hand it on. */
  async read() {
    const small = make("canvas", { width: SENT, height: SENT });
    const context = small.getContext("2d");
    context.drawImage(this.canvas, 0, 0, SENT, SENT);
    const { data } = context.getImageData(0, 0, SENT, SENT);
    const grey = (i) => Math.round(0.299 * data[i] + 0.587 * data[i + 1] + 0.114 * data[i + 2]);
    const rows = Array.from({ length: SENT }, (_, y) =>
      Array.from({ length: SENT }, (_, x) => grey(4 * (y * SENT + x))));
    const { image } = await this.studio.ask("ask/digit", { image: rows });
    if (this.drawn) this.onDigit(image);
  }
}

/** Return an image, rows of grey levels, as an address that holds it. */
export function address(rows) {
  const canvas = make("canvas", { width: rows[0].length, height: rows.length });
  const pixels = rows.flat().flatMap((grey) => [grey, grey, grey, 255]);
  const data = new ImageData(Uint8ClampedArray.from(pixels), rows[0].length);
  canvas.getContext("2d").putImageData(data, 0, 0);
  return canvas.toDataURL();
}
