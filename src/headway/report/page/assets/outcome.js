// What the numbers of one grid say of a claim: the verdict, the seeds behind it, and the way to its figures.
import { drawn, element } from "./dom.js";
import { formula } from "./formula.js";
import { median, number } from "./words.js";

export const SIGNS = { holds: "✓", partly: "◐", fails: "✕", "cannot be judged": "?", "not run": "–", "not in grid": "∅" };

/** In how many seeds it cannot be judged: what the claim compares could not be measured there. */
export const unjudged = ({ holds }) => holds.filter((each) => each === null).length;

const SEED_WORDS = new Map([[true, "yes"], [false, "no"], [null, "cannot be judged"]]);

/** "8 of 10": in how many seeds; nothing where none was run. */
export const heldWords = ({ holds }) => (holds.length ? `${holds.filter(Boolean).length} of ${holds.length}` : "");

/** "8 of 10 seeds", or "0 of 10 seeds, 10 cannot be judged". */
const seedWords = (finding) => {
  const open = unjudged(finding);
  return `${heldWords(finding)} seeds${open ? `, ${open} cannot be judged` : ""}`;
};

export function badge(verdict) {
  return element(
    "span",
    { class: `badge ${verdict.replaceAll(" ", "-")}` },
    element("span", { "aria-hidden": "true" }, SIGNS[verdict]),
    ` ${verdict}`,
  );
}

/** Each seed a dot, filled where the claim holds; the line is the interval. */
function dots(finding) {
  const points = finding.values
    .map((value, seed) => ({ value, holds: finding.holds[seed] }))
    .filter((point) => point.value !== null);
  const bounds = (finding.interval ?? []).filter((bound) => bound !== null);
  const all = [...points.map((point) => point.value), ...bounds];
  if (points.length < 2) return null;
  const [low, high] = [Math.min(...all), Math.max(...all)];
  if (low === high) return null;
  const x = (value) => 7 + (106 * (value - low)) / (high - low);
  return drawn(
    "svg",
    { class: "dots", width: 120, height: 18, viewBox: "0 0 120 18", "aria-hidden": "true" },
    drawn("line", { x1: 1, x2: 119, y1: 9, y2: 9, class: "axis" }),
    bounds.length === 2 &&
      drawn("line", { x1: x(bounds[0]), x2: x(bounds[1]), y1: 9, y2: 9, class: "interval" }),
    points.map((point) =>
      drawn("circle", { cx: x(point.value), cy: 9, r: 4, class: point.holds ? "yes" : "no" }),
    ),
  );
}

function seedTable(finding) {
  return element(
    "table",
    { class: "numbers small" },
    element(
      "thead",
      {},
      element("tr", {}, element("th", {}, "seed"), element("th", {}, "value"), element("th", {}, "holds")),
    ),
    element(
      "tbody",
      {},
      finding.seeds.map((seed, i) =>
        element(
          "tr",
          {},
          element("td", {}, `${seed}`),
          element("td", {}, number(finding.values[i])),
          element("td", {}, SEED_WORDS.get(finding.holds[i])),
        ),
      ),
    ),
  );
}

/** When a claim holds in a seed; a definition that speaks of a turn points to where this page says what that is. */
export function definitionWords(definition) {
  const link = element("a", { href: "#glossary" }, "see the words used on this page");
  return [formula(definition), /\ba turn\b/.test(definition) ? [" (Turn: ", link, ".)"] : []].flat();
}

/** The way to the figures behind the verdict. */
const figuresLink = ({ figures, claim, grid }) =>
  element("a", { href: `#figures-${figures}`, "aria-label": `figures of ${claim}, ${grid}` }, "figures");

/** What was found on one grid; `measured`: its quantity is named nowhere else; `linked`: the page has its figures. */
export function outcome(finding, { measured, linked }) {
  const interval = finding.interval
    ? ` [${number(finding.interval[0])}, ${number(finding.interval[1])}]`
    : "";
  const quantity =
    finding.values.length > 0 &&
    element(
      "div",
      { class: "quantity" },
      number(median(finding.values)),
      element("span", { class: "quiet" }, interval),
    );
  const parts = Object.entries(finding.parts);
  const lacking = parts.some(([, count]) => count < finding.holds.length); // else the verdict says it all
  return element(
    "div",
    { class: "outcome" },
    element(
      "div",
      {},
      badge(finding.verdict),
      finding.holds.length
        ? element("span", { class: "held" }, seedWords(finding))
        : null,
    ),
    element("div", { class: "measured" }, quantity, dots(finding)),
    lacking
      ? element(
          "ul",
          { class: "parts" },
          parts.map(([name, count]) => element("li", {}, `${name}: ${count} of ${finding.holds.length}`)),
        )
      : null,
    finding.detail ? element("p", { class: "quiet" }, formula(finding.detail)) : null,
    finding.reason ? element("p", { class: "quiet" }, "Possible reason: ", formula(finding.reason)) : null,
    measured ? element("p", { class: "quiet" }, "Measured: ", formula(finding.quantity)) : null,
    element(
      "div",
      { class: "more" },
      linked ? figuresLink(finding) : null,
      finding.seeds.length
        ? element("details", {}, element("summary", {}, "each seed"), seedTable(finding))
        : null,
    ),
  );
}
