// The figures of every experiment and grid, and what happens when a link leads to them.
import { makeChoice } from "./choices.js";
import { hasRun } from "./counting.js";
import { unzipped } from "./data.js";
import { element } from "./dom.js";
import { formula } from "./formula.js";
import { heldWords, SIGNS } from "./outcome.js";
import { pictureSource, pngOf, saveBlob, saveButton } from "./saving.js";
import { sentence } from "./words.js";

const MANY = 4; // groups that may lie open: more of them are folded, or nobody would find the last one

/** "figure 1, as-run"; somebody's own runs are not the paper's figure: "stages, quick", "stages, quick: excess loss". */
function figureName({ grid, own }, name) {
  if (!own) return `${name}, ${grid}`;
  return /^figure \d/.test(name) ? own : `${own}: ${name}`;
}

/** One figure on white paper; a press enlarges it, for letters that a phone makes too small. */
function card(group, figure) {
  const plain = figure.name.replaceAll("-", " ");
  const name = figureName(group, plain);
  const words = figure.caption ? `${sentence(name)}. ` : name;
  const source = pictureSource(figure);
  const enlarge = () => {
    const large = node.classList.toggle("large");
    paper.setAttribute("aria-pressed", String(large));
  };
  const image = element("img", {
    loading: "lazy", // before the source, or it comes too late
    decoding: "async",
    width: figure.width,
    height: figure.height,
    style: { "--pixels": figure.width },
    alt: `${name}. ${figure.caption || group.title}`,
    src: source,
  });
  const press = { type: "button", class: "paper", title: "Enlarge, or fit to the page", "aria-pressed": "false" };
  const paper = element("button", { ...press, onclick: enlarge }, image);
  const file = `${group.key}-${figure.name}`;
  const savePng = async () => saveBlob(`${file}.png`, await pngOf(source));
  const saveSvg = async () => saveBlob(`${file}.svg`, new Blob([await unzipped(figure.svg).text()], { type: "image/svg+xml" }));
  const node = element(
    "figure",
    { class: "card" },
    element("div", { class: "scroll" }, paper),
    element(
      "figcaption",
      {},
      figure.caption ? element("span", { class: "caption" }, element("b", {}, words), formula(figure.caption)) : name,
      saveButton(plain, "PNG", savePng),
      figure.svg ? saveButton(plain, "SVG", saveSvg) : null,
    ),
  );
  return node;
}

/** "A11 ✕ 0 of 10": what came of a claim that the figures are about, on this grid. */
const verdictBadge = (finding) =>
  element(
    "span",
    { class: `badge ${finding.verdict.replaceAll(" ", "-")}`, title: `${finding.claim}: ${finding.verdict}` },
    `${finding.claim} `,
    element("span", { role: "img", "aria-label": finding.verdict }, SIGNS[finding.verdict]),
    ` ${heldWords(finding)}`,
  );

/** The heading of a group with its figures below, folded where there are many groups. */
function makeGroup(group, findings, folded) {
  const cards = element("div", { class: "cards" });
  // A folded group costs nothing until somebody looks into it.
  const fill = () => {
    if (!cards.childElementCount) cards.append(...group.figures.map((figure) => card(group, figure)));
  };
  const heading = element("h3", {}, `${group.title} `, element("span", { class: "badge" }, group.grid), findings.map((each) => [" ", verdictBadge(each)]));
  const attributes = { id: `figures-${group.key}`, class: "figure-group" };
  if (!folded) {
    fill();
    return { group, node: element("div", attributes, heading, cards), open: () => false };
  }
  const unfold = { ...attributes, ontoggle: () => node.open && fill() };
  const node = element("details", unfold, element("summary", {}, heading), cards);
  const open = () => {
    const closed = !node.open;
    fill();
    node.open = true;
    return closed;
  };
  return { group, node, open };
}

export function mountGallery(host, { figures, findings }) {
  const judged = (group) => findings.filter((each) => each.figures === group.key && hasRun(each));
  const groups = figures.map((group) => makeGroup(group, judged(group), figures.length > MANY));
  const grids = [...new Set(figures.map((group) => group.grid))];
  let shown = null; // all of them
  const options = [null, ...grids].map((grid) => ({ value: grid, words: grid ?? "all grids" }));
  const choice = makeChoice("Figures by grid", options, (grid) => {
    shown = grid;
    for (const { group, node } of groups) node.hidden = grid !== null && group.grid !== grid;
  });
  host.append(
    ...(grids.length > 1 ? [element("div", { class: "filter" }, choice.host)] : []),
    ...groups.map(({ node }) => node),
  );
  followLinks(groups, (grid) => shown !== null && shown !== grid && choice.set(grid));
}

/** A link to a group brings back its grid and opens it, before the browser looks where to scroll. */
function followLinks(groups, showGrid) {
  const reveal = (hash) => {
    const target = groups.find(({ node }) => `#${node.id}` === hash);
    if (!target) return null;
    const { node } = target;
    const away = node.hidden;
    showGrid(target.group.grid);
    return target.open() || away ? node : null;
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#figures-"]');
    if (link) reveal(link.hash);
  });
  // The way back, and an address typed by hand: what was not there could not be scrolled to.
  window.addEventListener("hashchange", () => reveal(location.hash)?.scrollIntoView());
  reveal(location.hash); // as the page is opened the browser scrolls by itself, once everything is there
}
