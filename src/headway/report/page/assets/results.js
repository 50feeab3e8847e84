// The page of results: what was found first, then a section a paper, its task in a picture and its claims beneath.
import { byRule, countsByGrid, gridsAmong, gridWords, hasRun, isOurs, isPostHoc, mainVerdict, ruleWords, verdictCounts } from "./counting.js";
import { element, find } from "./dom.js";
import { mountFilter } from "./filters.js";
import { findingsSection, idOf } from "./findings.js";
import { formula } from "./formula.js";
import { badge, definitionWords, heldWords, outcome, unjudged } from "./outcome.js";
import { taskPicture } from "./taskpicture.js";
import { groupFindings } from "./verdicts.js";
import { counted, joined, sentence } from "./words.js";

const OTHERS = { key: "others", title: "Other claims", source: "", task: "", pictures: [], letters: "" };

const unlessEmpty = (tag, look, text) => (text ? element(tag, { class: look }, text) : null);

/** All that is known of a claim, written when somebody unfolds it. */
function claimDetails(row, linked) {
  const definitions = [...new Set(row.map(({ definition }) => definition))];
  const alike = row.every(({ quantity }) => quantity === row[0].quantity);
  return [
    element("p", {}, formula(row[0].statement)),
    ...definitions.map((words) => element("p", { class: "quiet" }, "It holds in a seed if: ", definitionWords(words))),
    alike && row[0].quantity ? element("p", { class: "quiet" }, "Measured: ", formula(row[0].quantity)) : "",
    element(
      "div",
      { class: "outcomes" },
      row.map((finding) =>
        element("div", {}, element("h4", {}, finding.grid), outcome(finding, { measured: !alike, linked: linked(finding) })),
      ),
    ),
  ];
}

/** A claim in a line: its name, what it claims, and its verdict on every grid of its paper. */
function claimRow(report, row, grids, linked) {
  const { claim } = row[0];
  const cell = (grid) => {
    const finding = row.find((each) => each.grid === grid);
    const open = finding && unjudged(finding) && finding.verdict !== "cannot be judged" ? `, ${unjudged(finding)} cannot be judged` : "";
    const held = finding?.holds.length ? ` ${heldWords(finding).replace(" of ", "/")}${open}` : "";
    const words = { class: "cell", "data-grid": grid };
    return element("span", words, finding ? [badge(finding.verdict), element("span", { class: "count" }, held)] : null);
  };
  const title = report.titles[claim] || row[0].statement;
  const line = element(
    "summary",
    {},
    element("b", { class: "claim-name" }, claim),
    element("span", { class: "claim-title" }, formula(title)),
    grids.map(cell),
  );
  const fill = () => node.childElementCount > 1 || node.append(...claimDetails(row, linked));
  const node = element("details", { class: "claim-row", id: idOf(claim), ontoggle: fill }, line);
  return { findings: row, node, grids };
}

const FEWEST = 0.25; // of a paper's claims: a column with fewer verdicts is left out if other grids have them all

/** The grids that get a column: no column stays empty. */
function columnsOf(rows) {
  const ran = (row, grid) => row.some((finding) => finding.grid === grid && hasRun(finding));
  const grids = [...new Set(rows.flat().map(({ grid }) => grid))];
  const worth = grids.filter((grid) => {
    const own = rows.filter((row) => ran(row, grid));
    const only = own.some((row) => !row.some((finding) => finding.grid !== grid && hasRun(finding)));
    return only || own.length >= FEWEST * rows.length;
  });
  return worth.length ? worth : grids;
}

/** " (17 of them ours)", of the claims that fail: these are not the paper's. */
function oursAmong(report, rows) {
  const ours = rows.filter((row) => mainVerdict(row) === "fails" && isOurs(report.papers, report.titles, row)).length;
  return ours ? ` (${ours} of them ours)` : "";
}

function paperSection(report, paper, rows, linked) {
  const grids = columnsOf(rows);
  const verdicts = rows.map(mainVerdict);
  const counts = grids.length > 1 ? countsByGrid(rows.flat(), grids) : [verdictCounts(verdicts)];
  const about = `${paper.title}\n${paper.source}`;
  const lines = rows.map((row) => ({ ...claimRow(report, row, grids, linked), about }));
  const head = element(
    "div",
    { class: "claim-head quiet", "aria-hidden": "true" },
    element("span", {}, "claim"),
    element("span"),
    grids.map((grid) => element("span", {}, grid)),
  );
  const node = element(
    "section",
    { id: `paper-${paper.key}`, class: "paper-section", "aria-labelledby": `paper-${paper.key}-title` },
    element("h2", { id: `paper-${paper.key}-title` }, paper.title),
    unlessEmpty("p", "quiet", paper.source),
    element(
      "div",
      { class: "paper-task" },
      element("div", { class: "task-pictures" }, paper.pictures.map(taskPicture)),
      unlessEmpty("p", "", paper.task.replace(/\s+/g, " ")),
    ),
    element("p", { class: "quiet" }, `${counted(rows.length, "claim")}. ${sentence(counts.join("; "))}.`),
    element("div", { class: "claim-list", style: { "--grids": grids.length } }, head, lines.map((line) => line.node)),
  );
  return { node, lines, entry: { id: `paper-${paper.key}`, words: paper.title, tally: verdictCounts(verdicts, oursAmong(report, rows)) } };
}

/** The list that stays in sight. */
function contents(entries) {
  const item = ({ id, words, tally = "" }) =>
    element(
      "li",
      {},
      element("a", { href: `#${id}` }, words),
      unlessEmpty("span", "quiet tally", tally),
    );
  return element("nav", { class: "contents", "aria-label": "Contents" }, element("ol", {}, entries.map(item)));
}

/** The list says where the reader is: at the last part that has come up to the top of the window. */
function followReading(nav) {
  const links = [...nav.querySelectorAll("a")].map((link) => ({ link, part: find(link.hash.slice(1)) }));
  const mark = () => {
    const passed = links.filter(({ part }) => !part.hidden).filter(({ part }) => part.getBoundingClientRect().top < 0.3 * window.innerHeight);
    const current = (passed.at(-1) ?? links[0]).link;
    for (const { link } of links) link === current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
  };
  let asked = 0;
  const soon = () => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(mark);
  };
  window.addEventListener("scroll", soon, { passive: true });
  soon();
}

/** "Of 57 claims tested with two sets of settings, 36 hold with those of the authors' code, 17 with the printed ones." */
function settingsWords(rows) {
  const verdictOn = (row, grid) => row.find((finding) => finding.grid === grid && hasRun(finding))?.verdict;
  const both = rows.filter((row) => verdictOn(row, "as-run") && verdictOn(row, "printed"));
  const holding = (grid) => both.filter((row) => verdictOn(row, grid) === "holds").length;
  if (!both.length) return "";
  return `Of ${counted(both.length, "claim")} tested with two sets of settings, ${holding("as-run")} hold with those of the authors’ code and ${holding("printed")} with the printed ones.`;
}

/** How many claims were tested and hold, in a sentence; and whose they are and what was not run, for whoever asks. */
function countWords(report, rows, known) {
  const tested = rows.filter((row) => hasRun(byRule(row)[0]));
  const verdicts = tested.map(mainVerdict);
  const count = (wanted) => verdicts.filter((each) => each === wanted).length;
  const parts = [
    [count("holds"), "in every seed"],
    [count("partly"), "in at least half of the seeds"],
    [count("fails"), `in fewer${oursAmong(report, tested)}`],
  ].filter(([many]) => many);
  const held = joined(parts.map(([many, where], k) => `${many}${k ? "" : many === 1 ? " holds" : " hold"} ${where}`));
  const open = count("cannot be judged") ? `; ${count("cannot be judged")} cannot be judged` : "";
  return {
    lead: `Of ${counted(tested.length, "claim")} tested, ${held || "none could be judged"}${held ? open : ""}.`,
    notes: [whoseWords(report, tested, known), settingsWords(rows), missingWords(report, rows.length - tested.length, known), ruleWords(report.findings)],
  };
}

/** "150 of the claims are from 8 papers and 51 are ours (3 of them post hoc, ...): of those that fail, 12 are ours." */
function whoseWords(report, tested, known) {
  const ours = tested.filter((row) => isOurs(report.papers, report.titles, row));
  const papers = known.filter(({ ours: own = "", letters }) => own !== letters).length;
  const late = ours.filter((row) => isPostHoc(report.titles, row)).length;
  const seen = late ? ` (${late} of them post hoc: written after their outcome had been seen)` : "";
  const failed = ours.filter((row) => mainVerdict(row) === "fails").length;
  const fails = failed ? ` Of the claims that fail, ${failed} ${failed === 1 ? "is" : "are"} ours.` : "";
  const own = ours.length ? ` and ${ours.length} ours${seen}` : "";
  return `Each claim is tested on the numbers of every seed: ${tested.length - ours.length} from ${counted(papers, "paper")}${own}.${fails}`;
}

/** What was not run: claims that are listed, claims of experiments without runs, and papers without any. */
function missingWords(report, untested, known) {
  const verb = (many) => (many === 1 ? "was" : "were");
  const listed = untested ? `${counted(untested, "listed claim")} ${verb(untested)} not run.` : "";
  const further = report.unlisted ? `${counted(report.unlisted, "further claim")}, of experiments that have not been run here, ${report.unlisted === 1 ? "is" : "are"} not listed.` : "";
  const absent = report.papers.filter((paper) => !known.includes(paper)).map(({ title }) => `“${title}”`);
  const none = absent.length ? `There are no runs of ${joined(absent)}.` : "";
  return [listed, further, none].filter(Boolean).join(" ");
}

/** What the counts rest on, for whoever asks: findings come first. */
function countingNotes(notes, grids) {
  const lines = [grids, ...notes].filter(Boolean).map((words) => element("p", { class: "quiet" }, words));
  return lines.length ? element("details", { class: "counting" }, element("summary", {}, "How verdicts are counted"), lines) : "";
}

/** A link to a claim opens it; one to a claim or a paper that the filter hides, `bringBack` ends the filter. */
function followClaims(bringBack) {
  const open = (hash) => {
    const node = /^#(claim|paper)-/.test(hash) ? find(hash.slice(1)) : null;
    if (node?.closest("[hidden]")) bringBack();
    if (node && hash.startsWith("#claim-")) node.open = true;
    return node;
  };
  const leading = 'a[href^="#claim-"], a[href^="#paper-"]';
  document.addEventListener("click", (event) => open(event.target.closest?.(leading)?.hash ?? ""));
  window.addEventListener("hashchange", () => open(location.hash)?.scrollIntoView());
  open(location.hash);
}

/** Turn the page into one of results: findings and papers come before the runs. */
export function mountResults(main, report) {
  document.body.classList.add("results");
  const rows = groupFindings(report.findings);
  const groups = new Set(report.figures.map((group) => group.key));
  const linked = (finding) => groups.has(finding.figures);
  const of = (paper) => rows.filter(([{ claim }]) => paper.letters.includes(claim[0]));
  const known = report.papers.map((paper) => ({ paper, rows: of(paper) })).filter((each) => each.rows.length);
  const rest = rows.filter((row) => !known.some((each) => each.rows.includes(row)));
  const all = rest.length ? [...known, { paper: OTHERS, rows: rest }] : known;
  const sections = all.map((each) => paperSection(report, each.paper, each.rows, linked));
  const filter = element("section", { id: "claims", "aria-labelledby": "claims-title" }, element("h2", { id: "claims-title" }, "Paper by paper"));
  const lines = sections.flatMap((section) => section.lines);
  const bringBack = lines.length > 1 ? mountFilter(filter, lines, sections) : () => {};
  const { lead, notes } = countWords(report, rows, known.map(({ paper }) => paper));
  document.querySelector(".introduction").textContent = lead;
  document.querySelector(".introduction").after(countingNotes(notes, gridWords(gridsAmong(report.findings))));
  main.prepend(findingsSection(report), filter, ...sections.map(({ node }) => node));
  if (report.runs.length) find("watch").prepend(element("h2", { id: "runs-title" }, "Watch the runs"), find("watch-title"), find("summary"));
  const entries = [
    { id: "findings", words: "Findings" },
    ...sections.map(({ entry }) => entry),
    report.runs.length && { id: "watch", words: "Watch the runs" },
    report.figures.length && { id: "figures", words: "Figures" },
    { id: "glossary", words: "Words used here" },
    (report.runs.length || report.commands.length) && { id: "sources", words: "What was run" },
  ];
  const nav = contents(entries.filter(Boolean));
  main.before(nav);
  followReading(nav);
  followClaims(bringBack);
}
