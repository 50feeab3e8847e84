// Which claims are shown: those with the chosen verdict on some grid that speak of every typed word, and their papers.
import { makeChoice } from "./choices.js";
import { hasRun, ruleWords } from "./counting.js";
import { element } from "./dom.js";
import { SIGNS } from "./outcome.js";
import { counted } from "./words.js";

const nameOf = (findings) => findings[0].claim.toLowerCase().split(/\s+/)[0];

function wordsOf(findings, about) {
  const words = findings.flatMap((finding) => [
    finding.claim,
    finding.statement,
    finding.definition,
    finding.quantity,
    finding.detail,
    finding.grid,
    ...Object.keys(finding.parts),
  ]);
  return [...words, about].join("\n").toLowerCase();
}

/** The findings of a claim that its line shows: those on grids with a column. */
export const inColumns = ({ findings, grids }) => findings.filter(({ grid }) => grids.includes(grid));

/**
 * [{findings, node, grids, about}], a claim each, with the grids that have a column and words of its paper: the row of
 * buttons and the field for words that hide the nodes of the others, and of sections [{node, lines}] those without a
 * hit. What it returns shows everything again.
 */
export function mountFilter(host, rows, sections = []) {
  const names = new Set(rows.map((row) => nameOf(row.findings)));
  const claims = rows.map((row) => ({
    node: row.node,
    name: nameOf(row.findings),
    words: wordsOf(row.findings, row.about ?? ""),
    verdicts: new Set(inColumns(row).map((finding) => finding.verdict)),
    mixed: new Set(inColumns(row).filter(hasRun).map((finding) => finding.verdict)).size > 1,
  }));
  const grids = new Set(rows.flatMap((row) => inColumns(row).map(({ grid }) => grid))).size;
  let chosen = "all";

  // Whoever types the whole name of a claim means that claim: "A1" is not A10.
  const speaksOf = (claim, word) => (names.has(word) ? claim.name === word : claim.words.includes(word));
  const apply = () => {
    const typed = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const claim of claims) {
      const verdictFits = chosen === "all" || claim.verdicts.has(chosen);
      const fits = verdictFits && typed.every((word) => speaksOf(claim, word));
      claim.node.hidden = !fits;
      shown += fits;
    }
    for (const { node, lines } of sections) node.hidden = lines.every((line) => line.node.hidden);
    const where = chosen !== "all" && grids > 1 ? `: ${chosen} on at least one grid` : "";
    status.textContent = `${shown ? shown : "none"} of ${counted(claims.length, "claim")}${where}`;
  };

  const options = Object.entries(SIGNS).map(([verdict, sign]) => {
    const count = claims.filter((claim) => claim.verdicts.has(verdict)).length;
    return { value: verdict, words: `${sign} ${verdict} ${count}`, disabled: count === 0 };
  }).filter(({ value, disabled }) => !disabled || !["cannot be judged", "not in grid"].includes(value)); // rare: offered only where there is one
  const all = { value: "all", words: `all ${claims.length}` };
  const choice = makeChoice("Claims by verdict", [all, ...options], (value) => {
    chosen = value;
    apply();
  });
  const field = element("input", {
    type: "search",
    id: "claim-words",
    placeholder: sections.length ? "claim, paper or words" : "claim or words",
    "aria-label": sections.length ? "Claims by name, paper or words" : "Claims by name or words",
    oninput: apply,
  });
  const status = element("output", { class: "quiet", for: "claim-words" });
  const mixed = claims.filter((claim) => claim.mixed).length;
  const differ = mixed ? ` ${counted(mixed, "claim")} ${mixed === 1 ? "has" : "have"} another verdict on another grid.` : "";
  const rule = ruleWords(rows.flatMap((row) => row.findings));
  const note = rule ? element("p", { class: "quiet" }, `${rule}${differ} The buttons find a claim by its verdict on any grid that has a column, so that a claim may be counted under several.`) : "";
  host.append(element("div", { class: "filter" }, choice.host, field, status), note);
  const showAll = () => {
    field.value = "";
    choice.set("all");
  };
  apply();
  return showAll;
}
