// One notation for laws, wherever a claim's words hold one: d^0.49 has its exponent raised, sqrt(d) a root sign, `code` its own letters.
import { element } from "./dom.js";

const PARTS = /sqrt\(((?:[^()]|\([^()]*\))*)\)|\bsqrt (\w)|\^(-?\d+(?:\.\d+)?|\{[^{}]*\})|\b([A-Za-z])_(\{[^{}]*\}|[A-Za-z0-9]+)|`([^`]+)`/g;

const bare = (text) => text.replace(/^\{|\}$/g, "");

/** Words as nodes: text stays text, and nothing of it is parsed as markup. */
export function formula(text) {
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(PARTS)) {
    const [whole, root, letter, exponent, name, below, code] = found;
    nodes.push(text.slice(from, found.index));
    if (root !== undefined) nodes.push(...(root.length > 1 ? ["√(", ...formula(root), ")"] : [`√${root}`]));
    else if (letter) nodes.push(`√${letter}`);
    else if (code) nodes.push(element("code", {}, code));
    else if (exponent) nodes.push(element("sup", {}, bare(exponent).replace("-", "−")));
    else nodes.push(name, element("sub", {}, bare(below)));
    from = found.index + whole.length;
  }
  return [...nodes, text.slice(from)];
}
