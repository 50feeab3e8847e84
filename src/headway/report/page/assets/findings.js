// What was found: a few lines to begin with, then every finding under its paper, with a small picture.
import { byRule, hasRun, isOurs, isPostHoc } from "./counting.js";
import { element } from "./dom.js";
import { formula } from "./formula.js";
import { badge, heldWords } from "./outcome.js";
import { pictureSource } from "./saving.js";

const LADDER =
  "Every task has a ladder: reference predictors, its rungs, from knowing nothing to the truth. KL to a rung is how far a model's predictions are from it.";

/** The address of a claim on this page. */
export const idOf = (claim) => `claim-${claim.replace(/[^A-Za-z0-9]+/g, "-")}`;
const cardOf = (claim) => `finding-${claim.replace(/[^A-Za-z0-9]+/g, "-")}`;

/** How a picture lies in a frame that shows only a part of it: the frame's shape, and the picture's size and place. */
export function cropped({ width, height }, crop = []) {
  const [left, top, right, bottom] = crop.length ? crop : [0, 0, 1, 1];
  const [across, down] = [right - left, bottom - top];
  const percent = (share) => `${+(100 * share).toFixed(3)}%`;
  return {
    frame: { "--shape": +((width * across) / (height * down)).toFixed(4) },
    picture: { width: percent(1 / across), left: percent(-left / across), top: percent(-top / down) },
  };
}

/** The small picture of a finding: a figure, or the panel of it that can be read; nothing where none shows it. */
function stamp(report, { figures, figure, crop }) {
  const group = report.figures.find(({ key }) => key === figures);
  const named = group?.figures.find(({ name }) => name === figure);
  const shown = named ?? group?.figures[0];
  if (!shown) return null;
  const place = cropped(shown, named ? crop : []); // another figure has other panels
  const image = { loading: "lazy", decoding: "async", width: shown.width, height: shown.height, alt: "", style: place.picture };
  const frame = element("span", { class: "stamp-part", style: place.frame }, element("img", { ...image, src: pictureSource(shown) }));
  return element("a", { class: "stamp", href: `#figures-${figures}`, "aria-label": `figures: ${group.title}` }, frame);
}

/** The verdict on each grid where the claim was judged, the one that counts first; and the sentence's own, run or not. */
function verdictsOf(report, { claim, grid, verdict, held }) {
  const own = report.findings.filter((each) => each.claim === claim && each.grid !== grid && hasRun(each));
  return byRule([{ grid, verdict, held }, ...own.map((each) => ({ ...each, held: heldWords(each) }))]);
}

/** " (ours, post hoc)" of a claim that no paper makes; its title says the same. */
function ourWords({ papers, titles, findings }, claim) {
  const own = findings.filter((each) => each.claim === claim);
  if (!own.length || !isOurs(papers, titles, own)) return "";
  return isPostHoc(titles, own) ? " (ours, post hoc)" : " (ours)";
}

/** Which claim the verdict judges: named in full where it does not hold, or it would seem to deny the sentence. */
function claimLine(report, highlight) {
  const { claim } = highlight;
  const verdicts = verdictsOf(report, highlight);
  const title = verdicts.every(({ verdict }) => verdict === "holds") ? "" : (report.titles[claim] ?? "");
  return element(
    "p",
    { class: "quiet" },
    "Claim ",
    element("a", { href: `#${idOf(claim)}`, "aria-label": `claim ${claim}`, title: report.titles[claim] ?? "" }, claim),
    title ? [" “", formula(title), "”"] : "",
    title.endsWith(")") ? ": " : `${ourWords(report, claim)}: `,
    verdicts.map((each, k) => [k ? " · " : "", `${each.grid} `, badge(each.verdict), each.held ? ` ${each.held}` : ""]),
    verdicts.some(({ held }) => held) ? " seeds" : "",
  );
}

const findingCard = (report, highlight) =>
  element(
    "li",
    { class: "finding", id: cardOf(highlight.claim) },
    stamp(report, highlight),
    element("div", {}, element("p", { class: "finding-words" }, formula(highlight.sentence)), claimLine(report, highlight)),
  );

/** Findings in the order of their papers: [[title, highlights], ..]; those of no paper come last, without a title. */
function byPaper({ highlights, papers }) {
  const of = (claim) => papers.find(({ letters }) => letters.includes(claim[0]));
  const groups = [...papers, undefined].map((paper) => [paper?.title ?? "", highlights.filter(({ claim }) => of(claim) === paper)]);
  return groups.filter(([, own]) => own.length);
}

/** The lines that the page opens with, each of which leads to its finding. */
function firstLines(highlights) {
  const lines = highlights.filter(({ brief }) => brief).map(({ brief, claim, verdict }) =>
    element("li", {}, element("a", { href: `#${cardOf(claim)}` }, formula(brief)), " ", badge(verdict)),
  );
  return lines.length ? element("ol", { class: "first-findings" }, lines) : "";
}

export function findingsSection(report) {
  return element(
    "section",
    { id: "findings", "aria-labelledby": "findings-title" },
    element("h2", { id: "findings-title" }, "Findings"),
    firstLines(report.highlights),
    element("p", { class: "quiet" }, LADDER),
    byPaper(report).map(([title, own]) => [
      title ? element("h3", {}, title) : "",
      element("ul", { class: "findings" }, own.map((each) => findingCard(report, each))),
    ]),
  );
}
