// The claims and what the numbers say of them: one row a claim, one column a grid.
import { drawn, element } from "./dom.js";
import { number } from "./words.js";

const SIGNS = { holds: "✓", partly: "◐", fails: "✕", "not run": "–" };

export function badge(verdict) {
  return element(
    "span",
    { class: `badge ${verdict.replace(" ", "-")}` },
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

function middle(values) {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  const half = known.length >> 1;
  return !known.length ? null : known.length % 2 ? known[half] : (known[half - 1] + known[half]) / 2;
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
          element("td", {}, finding.holds[i] ? "yes" : "no"),
        ),
      ),
    ),
  );
}

function outcome(finding, alone) {
  const held = finding.holds.filter(Boolean).length;
  const interval = finding.interval
    ? ` [${number(finding.interval[0])}, ${number(finding.interval[1])}]`
    : "";
  const parts = Object.entries(finding.parts);
  return element(
    "div",
    { class: "outcome" },
    element(
      "div",
      {},
      badge(finding.verdict),
      finding.holds.length
        ? element("span", { class: "held" }, `${held} of ${finding.holds.length} seeds`)
        : null,
    ),
    finding.values.length
      ? element(
          "div",
          { class: "quantity" },
          number(middle(finding.values)),
          element("span", { class: "quiet" }, interval),
        )
      : null,
    dots(finding),
    parts.length
      ? element(
          "ul",
          { class: "parts" },
          parts.map(([name, count]) => element("li", {}, `${name}: ${count} of ${finding.holds.length}`)),
        )
      : null,
    finding.detail ? element("p", { class: "quiet" }, finding.detail) : null,
    alone ? null : element("p", { class: "quiet" }, `Measured: ${finding.quantity}`),
    finding.seeds.length
      ? element("details", {}, element("summary", {}, "each seed"), seedTable(finding))
      : null,
  );
}

/** Findings that say the same of different grids share a row. */
export function groupFindings(findings) {
  const rows = new Map();
  for (const finding of findings) {
    const key = `${finding.claim}\n${finding.statement}`;
    if (!rows.has(key)) rows.set(key, []);
    rows.get(key).push(finding);
  }
  return [...rows.values()];
}

export function mountVerdicts(host, report) {
  const grids = [...new Set(report.findings.map((finding) => finding.grid))];
  const rows = groupFindings(report.findings).map((row) => {
    const alike = row.every((finding) => finding.quantity === row[0].quantity);
    const definitions = [...new Set(row.map((finding) => finding.definition))];
    return element(
      "tr",
      {},
      element("th", { scope: "row", class: "claim" }, row[0].claim),
      element(
        "td",
        { class: "statement" },
        element("p", {}, row[0].statement),
        alike && row[0].quantity ? element("p", { class: "quiet" }, `Measured: ${row[0].quantity}`) : null,
        element(
          "details",
          {},
          element("summary", {}, "when a seed counts"),
          definitions.map((definition) => element("p", {}, definition)),
        ),
      ),
      grids.map((grid) =>
        element(
          "td",
          { "data-grid": grid },
          row.filter((finding) => finding.grid === grid).map((finding) => outcome(finding, alike)),
        ),
      ),
    );
  });
  host.append(
    element(
      "p",
      { class: "quiet" },
      "The number is the median over seeds, with its 95 % interval; a dot is a seed, filled where it holds.",
    ),
    element(
      "div",
      { class: "scroll" },
      element(
        "table",
        { class: "verdicts" },
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            element("th", { scope: "col" }, "claim"),
            element("th", { scope: "col" }, "what it says"),
            grids.map((grid) => element("th", { scope: "col" }, grid)),
          ),
        ),
        element("tbody", {}, rows),
      ),
    ),
  );
}
