// The page of results: what was found first, then a section a paper, its task in a picture and its claims beneath.
import { byRule, countsByGrid, gridsAmong, gridWords, hasRun, isOurs, isPostHoc, mainVerdict, ruleWords, verdictCounts } from "./counting.js";
import { element, find } from "./dom.js";
import { mountFilter } from "./filters.js";
import { formula } from "./formula.js";
import { badge, definitionWords, heldWords, outcome, unjudged } from "./outcome.js";
import { pictureSource } from "./saving.js";
import { taskPicture } from "./taskpicture.js";
import { groupFindings } from "./verdicts.js";
import { counted, joined, sentence } from "./words.js";

const OTHERS = { key: "others", title: "Other claims", source: "", task: "", pictures: [], letters: "" };

const LADDER =
  "Every task has a ladder: reference predictors, its rungs, from knowing nothing to the truth. KL to a rung is how far a model's predictions are from it.";

/** The address of a claim on this page. */
const idOf = (claim) => `claim-${claim.replace(/[^A-Za-z0-9]+/g, "-")}`;

const unlessEmpty = (tag, look, text) => (text ? element(tag, { class: look }, text) : null);

/** The small picture of a finding: a figure, or nothing where none shows it. */
function stamp(report, { figures, figure }) {
  const group = report.figures.find(({ key }) => key === figures);
  const shown = group?.figures.find(({ name }) => name === figure) ?? group?.figures[0];
  if (!shown) return null;
  const image = { loading: "lazy", decoding: "async", width: shown.width, height: shown.height, alt: "" };
  const picture = element("img", { ...image, src: pictureSource(shown) });
  return element("a", { class: "stamp", href: `#figures-${figures}`, "aria-label": `figures: ${group.title}` }, picture);
}

/** The verdict on each grid where the claim was judged, the one that counts first; and the sentence's own, run or not. */
function verdictsOf(report, { claim, grid, verdict, held }) {
  const own = report.findings.filter((each) => each.claim === claim && each.grid !== grid && hasRun(each));
  return byRule([{ grid, verdict, held }, ...own.map((each) => ({ ...each, held: heldWords(each) }))]);
}

/** The sentence, and below it which claim the verdict judges: it may deny what the sentence says of the numbers. */
function findingCard(report, highlight) {
  const { claim, sentence: words } = highlight;
  const title = report.titles[claim];
  const paper = report.papers.find(({ letters }) => letters.includes(claim[0]));
  return element(
    "li",
    { class: "finding" },
    stamp(report, highlight),
    element(
      "div",
      {},
      paper ? element("p", { class: "quiet finding-paper" }, paper.title) : "",
      element("p", { class: "finding-words" }, formula(words)),
      element(
        "p",
        { class: "quiet" },
        "Claim ",
        element("a", { href: `#${idOf(claim)}`, "aria-label": `claim ${claim}` }, claim),
        title ? [" “", formula(title), "”: "] : ": ",
        verdictsOf(report, highlight).map((each, k) => [k ? " · " : "", `${each.grid} `, badge(each.verdict), each.held ? ` ${each.held}` : ""]),
        verdictsOf(report, highlight).some(({ held }) => held) ? " seeds" : "",
      ),
    ),
  );
}

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
  return { node, lines, entry: { id: `paper-${paper.key}`, words: paper.title, tally: verdictCounts(verdicts) } };
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

/** " Of 57 claims tested with two sets of settings, 36 hold with those of the authors' code, 17 with the printed ones." */
function settingsWords(rows) {
  const verdictOn = (row, grid) => row.find((finding) => finding.grid === grid && hasRun(finding))?.verdict;
  const both = rows.filter((row) => verdictOn(row, "as-run") && verdictOn(row, "printed"));
  const holding = (grid) => both.filter((row) => verdictOn(row, grid) === "holds").length;
  if (!both.length) return "";
  return ` Of ${counted(both.length, "claim")} tested with two sets of settings, ${holding("as-run")} hold with those of the authors’ code and ${holding("printed")} with the printed ones.`;
}

/** How many claims are the papers' and how many ours, and what the numbers say of them. */
function countWords(report, rows, known) {
  const verdicts = rows.map(mainVerdict);
  const count = (wanted) => verdicts.filter((each) => each === wanted).length;
  const own = rows.filter((row) => isOurs(report.papers, report.titles, row) && hasRun(byRule(row)[0]));
  const failed = own.filter((row) => mainVerdict(row) === "fails").length;
  const theirs = failed ? ` (${count("fails") - failed} of the papers’, ${failed} of ours)` : "";
  const parts = [
    [count("holds"), "in every seed"],
    [count("partly"), "in at least half of them"],
    [count("fails"), `in fewer than half${theirs}`],
  ].filter(([many]) => many);
  const open = count("cannot be judged") ? `; ${count("cannot be judged")} cannot be judged` : "";
  const untested = rows.filter((row) => !hasRun(byRule(row)[0])).length;
  const left = untested + report.unlisted;
  const listed = untested && report.unlisted ? ` (${untested} listed, ${report.unlisted} not)` : report.unlisted ? " (not listed)" : "";
  const missing = left ? ` ${counted(left, "more claim")} ${left === 1 ? "was" : "were"} not run${listed}.` : "";
  const held = joined(parts.map(([many, where], k) => `${many}${k ? "" : many === 1 ? " holds" : " hold"} ${where}`));
  const absent = report.papers.filter((paper) => !known.includes(paper)).map(({ title }) => `“${title}”`);
  const none = absent.length ? `There are no runs of ${joined(absent)}.` : "";
  const ours = own.length;
  const papers = known.filter(({ ours: own = "", letters }) => own !== letters).length;
  const further = report.unlisted ? `${counted(report.unlisted, "further claim")}, of experiments that have not been run here, ${report.unlisted === 1 ? "is" : "are"} not listed.` : "";
  const late = own.filter((row) => isPostHoc(report.titles, row)).length;
  const seen = late ? ` (${late} of them post hoc: written after their outcome had been seen)` : "";
  const whose = `${rows.length - untested - ours} from ${counted(papers, "paper")}${ours ? ` and ${ours} of ours${seen}` : ""}`;
  const what = `${counted(rows.length - untested, "claim")}, ${whose}, each tested on the numbers of every seed`;
  return { lead: `${what}: ${held}${open}.${settingsWords(rows)}${missing}`, notes: [ruleWords(report.findings), further, none].filter(Boolean) };
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
  const findings = element(
    "section",
    { id: "findings", "aria-labelledby": "findings-title" },
    element("h2", { id: "findings-title" }, "Findings"),
    element("p", {}, LADDER),
    element("ul", { class: "findings" }, report.highlights.map((each) => findingCard(report, each))),
  );
  const filter = element("section", { id: "claims", "aria-labelledby": "claims-title" }, element("h2", { id: "claims-title" }, "Paper by paper"));
  const lines = sections.flatMap((section) => section.lines);
  const bringBack = lines.length > 1 ? mountFilter(filter, lines, sections) : () => {};
  const { lead, notes } = countWords(report, rows, known.map(({ paper }) => paper));
  document.querySelector(".introduction").textContent = lead;
  document.querySelector(".introduction").after(countingNotes(notes, gridWords(gridsAmong(report.findings))));
  main.prepend(findings, filter, ...sections.map(({ node }) => node));
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
