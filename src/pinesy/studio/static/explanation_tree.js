// What the tree of an explanation shows, from what the library says: `Explanation.to_dict`.
import { make } from "/shared/elements.js";
import { degreesSaid, treeNode } from "/shared/outline.js";
import { degreeWords } from "/shared/words.js";

const leftText = (left, what) => (left ? `and ${left.count} more ${what}` : "");

/** Return the records of one explanation, as the tree takes them; images are by input. */
function reader({ nodes }, images) {
  const values = ({ nodes: numbers }) => numbers.map((number) => value(nodes[number]));

  function value(node) {
    const said = `: ${degreesSaid(node.possibility, node.certainty)}`;
    const open = node.kind === "inferred" && !node.cut;
    return {
      name: node.text,
      said: node.cut ? `${said} …` : said,
      image: node.kind === "perceived" ? images[node.attribute] : null,
      reasons: open ? () => reasons(node) : null,
    };
  }

  function reasons({ parameters, triplets, triplets_omitted: left }) {
    return { parameters, triplets: triplets.map(triplet), left: leftText(left, "rules") };
  }

  function triplet({ rule, text, semantics, degree, holds, reduced, reduced_omitted: left, unexpected }) {
    const word = semantics === "P" ? "possible" : "certain";
    const later = (one) => () => part(one, word);
    return {
      rule,
      text,
      word,
      degree,
      silent: semantics === "C" && !holds,
      parts: reduced.map(later),
      even: unexpected.map(later),
      left: leftText(left, "propositions"),
    };
  }

  function part({ reduced, degree, decides, because }, word) {
    return { text: `${reduced.text}: ${degreeWords(word, degree)}`, decides, behind: values(because) };
  }

  return values;
}

/** Return an explanation as a tree: why, and what else is possible. */
export function explanationTree(explanation, images) {
  const values = reader(explanation, images);
  const tree = make("div", { class: "tree" }, values(explanation.values).map((one) => treeNode(one, true)));
  const rivals = values(explanation.rivals);
  if (rivals.length) {
    const text = "What else is possible, and what holds it down";
    tree.append(make("details", {}, make("summary", {}, text), rivals.map((one) => treeNode(one))));
  }
  return tree;
}
