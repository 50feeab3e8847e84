// The claims and what the numbers say of them: one row a claim, one column a grid.
import { element } from "./dom.js";
import { mountFilter } from "./filters.js";
import { verdictTable } from "./numbers.js";
import { formula } from "./formula.js";
import { definitionWords, outcome } from "./outcome.js";
import { saving } from "./saving.js";
import { tally } from "./summary.js";

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
  const groups = new Set(report.figures.map((group) => group.key));
  const rows = groupFindings(report.findings).map((row) => {
    const alike = row.every((finding) => finding.quantity === row[0].quantity);
    const definitions = [...new Set(row.map((finding) => finding.definition))];
    const outcomeOf = (finding) => outcome(finding, { measured: !alike, linked: groups.has(finding.figures) });
    const node = element(
      "tr",
      {},
      element("th", { scope: "row", class: "claim" }, row[0].claim),
      element(
        "td",
        { class: "statement" },
        element("p", {}, formula(row[0].statement)),
        alike && row[0].quantity ? element("p", { class: "quiet" }, "Measured: ", formula(row[0].quantity)) : null,
        element(
          "details",
          {},
          element("summary", {}, "when it holds in a seed"),
          definitions.map((definition) => element("p", {}, definitionWords(definition))),
        ),
      ),
      grids.map((grid) =>
        element(
          "td",
          { "data-grid": grid },
          row.filter((finding) => finding.grid === grid).map(outcomeOf),
        ),
      ),
    );
    return { findings: row, node, grids };
  });
  host.append(
    element(
      "p",
      { class: "quiet" },
      `${tally(report.findings)} The number is the median over seeds, with its 95 % interval; each dot is a seed, filled if the claim holds in it.`,
      saving("the verdicts", () => "verdicts", () => verdictTable(report.findings), null),
    ),
  );
  if (rows.length > 1) mountFilter(host, rows);
  host.append(
    element(
      "div",
      { class: "scroll wide" },
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
            element("th", { scope: "col" }, "statement"),
            grids.map((grid) => element("th", { scope: "col" }, grid)),
          ),
        ),
        element(
          "tbody",
          {},
          rows.map((row) => row.node),
        ),
      ),
    ),
  );
}
