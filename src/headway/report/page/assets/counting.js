// Which verdict counts for a claim, how many claims came to which, and what the grids are: one rule for the whole page.
import { joined } from "./words.js";

const GRID_ORDER = ["as-run", "paper", "printed", "quick"];

const GRID_WORDS = {
  printed: "the settings printed in the paper",
  "as-run": "the settings of the authors' code",
  paper: "paper scale",
  quick: "settings of ours, near those of the authors' code and small enough for a laptop",
};

export const hasRun = ({ verdict }) => verdict !== "not run" && verdict !== "not in grid";

/** The findings of a claim in the order of the rule: the first one counts. */
export function byRule(row) {
  const place = ({ grid }) => (GRID_ORDER.includes(grid) ? GRID_ORDER.indexOf(grid) : GRID_ORDER.length);
  const rank = (finding) => (hasRun(finding) ? 0 : finding.verdict === "not run" ? 10 : 20) + place(finding);
  return [...row].sort((a, b) => rank(a) - rank(b));
}

/** The verdict that counts for a claim: of the first of these grids on which it was run. */
export const mainVerdict = (row) => byRule(row)[0].verdict;

/** The grids of these findings in the order of the rule. */
export function gridsAmong(findings) {
  const found = [...new Set(findings.map(({ grid }) => grid))];
  return [...GRID_ORDER.filter((grid) => found.includes(grid)), ...found.filter((grid) => !GRID_ORDER.includes(grid))];
}

/** "If a claim was tested on several grids, its verdict on as-run counts, or otherwise that on the first of paper and printed where it was tested." */
export function ruleWords(findings) {
  const [first, ...rest] = gridsAmong(findings);
  if (!rest.length) return "";
  const others = rest.length === 1 ? rest[0] : `the first of ${joined(rest)} where it was tested`;
  return `If a claim was tested on several grids, its verdict on ${first} counts, or otherwise that on ${others}.`;
}

/** "Grids: printed = the settings printed in the paper; quick = settings of ours, ... a laptop." */
export function gridWords(grids) {
  const known = Object.entries(GRID_WORDS).filter(([grid]) => grids.includes(grid));
  return known.length ? `Grids: ${known.map(([grid, words]) => `${grid} = ${words}`).join("; ")}.` : "";
}

/** "29 hold, 5 partly, 15 fail, 5 not run"; `ours`, as in " (3 of them ours)", follows those that fail. */
export function verdictCounts(verdicts, ours = "") {
  const count = (wanted) => verdicts.filter((each) => each === wanted).length;
  const words = [
    [count("holds"), count("holds") === 1 ? "holds" : "hold"],
    [count("partly"), "partly"],
    [count("fails"), `${count("fails") === 1 ? "fails" : "fail"}${ours}`],
    [count("cannot be judged"), "cannot be judged"],
    [count("not run"), "not run"],
    [count("not in grid"), "not in the grid"],
  ];
  return words.filter(([many]) => many).map(([many, verb]) => `${many} ${verb}`).join(", ");
}

/** The same on each of several grids: "as-run: 29 hold, 5 not run; printed: 3 hold, 31 not run". */
export function countsByGrid(findings, grids) {
  return grids.map((grid) => {
    const own = findings.filter((finding) => finding.grid === grid).map(({ verdict }) => verdict);
    return `${grid}: ${verdictCounts(own)}`;
  });
}

/** Whether a claim is ours and not the paper's: its paper's letters, its title or its statement say so. */
export const isOurs = (papers, titles, [{ claim, statement }]) =>
  papers.some(({ ours = "" }) => ours.includes(claim[0])) ||
  /\bours(, post hoc)?\)$/.test(titles[claim] ?? "") ||
  /\(Ours\b/.test(statement);

/** Whether a claim was written after its outcome had been seen. */
export const isPostHoc = (titles, [{ claim, statement }]) =>
  /\bours, post hoc\)$/.test(titles[claim] ?? "") || /\(Ours, post hoc\b/.test(statement);
