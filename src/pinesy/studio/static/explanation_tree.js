// The tree of an explanation that the library has made: `Explanation.to_dict`.
import { fill, make, shortList } from "/shared/elements.js";
import { degreeWords } from "/shared/words.js";

/** Return how many more there are of something that was left out. */
function omitted(left, what) {
  return left ? make("p", { class: "quiet" }, `and ${left.count} more ${what}`) : null;
}

/** The nodes of one explanation, made as they are opened: a value may stand behind many rules. */
export class ExplanationTree {
  /** `images` are addresses by the names of inputs. */
  constructor(explanation, images) {
    Object.assign(this, { explanation, images, nodes: explanation.nodes });
    const { values, rivals } = explanation;
    this.element = make("div", { class: "tree" }, ...this.roots(values, true));
    const others = this.roots(rivals, false);
    if (others.length) {
      const told = "What else is possible, and what holds it down";
      this.element.append(make("details", {}, make("summary", {}, told), ...others));
    }
  }

  roots({ nodes, omitted: left }, open) {
    return [...nodes.map((number) => this.node(number, open)), omitted(left, "values")].filter(Boolean);
  }

  node(number, open) {
    const node = this.nodes[number];
    const words = `${node.text}: ${degreeWords("possible", node.possibility)}`;
    const certain = node.certainty > 0 ? `, ${degreeWords("certain", node.certainty)}` : "";
    const text = make("b", {}, words + certain);
    if (node.kind === "perceived") return this.leaf(node, text);
    if (node.cut) return make("p", {}, text, " …");
    const content = make("div", { class: "why" });
    const details = make("details", { open }, make("summary", {}, text), content);
    const write = () => details.open && !content.children.length && fill(content, ...this.reasons(node));
    details.addEventListener("toggle", write);
    write();
    return details;
  }

  leaf(node, text) {
    const address = this.images[node.attribute];
    const image = address && make("img", { src: address, alt: `the image of ${node.label}` });
    return make("p", { class: "leaf" }, image || null, text);
  }

  reasons({ triplets, triplets_omitted: left, parameters }) {
    const spoken = triplets.filter(({ semantics, holds }) => semantics === "P" || holds);
    const silent = triplets.filter((triplet) => !spoken.includes(triplet));
    const parts = [
      parameters.length ? shortList(parameters, (one) => this.parameter(one)) : null,
      spoken.length ? shortList(spoken, (one) => this.triplet(one)) : null,
      omitted(left, "rules"),
    ];
    if (silent.length) {
      const told = "Rules that would speak against it, but their premises are not certain";
      const rest = shortList(silent, (one) => this.triplet(one));
      parts.push(make("details", { open: !spoken.length }, make("summary", { class: "quiet" }, told), rest));
    }
    return parts;
  }

  parameter({ rule, text, name, degree }) {
    return [`Rule ${rule}: its parameter ${name} is ${degree}: `, make("code", {}, text)];
  }

  triplet({ rule, text, semantics, degree, reduced, reduced_omitted: left, unexpected }) {
    const word = semantics === "P" ? "possible" : "certain";
    const even = unexpected.map((part) => this.part(part, word)).join(" and ");
    return [
      `Rule ${rule}, because its premise is ${degreeWords(word, degree)}: `,
      make("code", {}, text),
      shortList(reduced, (part) => this.premise(part, word)),
      omitted(left, "propositions"),
      even ? make("p", { class: "quiet" }, `even if ${even}`) : null,
    ];
  }

  part({ reduced, degree }, word) {
    return `${reduced.text} is ${degreeWords(word, degree)}`;
  }

  premise(part, word) {
    const text = make("span", { class: part.decides ? "lit" : null }, this.part(part, word));
    const behind = part.decides ? this.roots(part.because, false) : [];
    return [text, ...behind];
  }
}
