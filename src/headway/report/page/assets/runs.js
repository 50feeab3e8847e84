// Stage boundaries of every seed, and what each run was made with.
import { diverged } from "./data.js";
import { element, scrolling } from "./dom.js";
import { byLadder, moment, rungTitle } from "./terms.js";
import { stageRows } from "./numbers.js";
import { fileName, saving } from "./saving.js";
import { alike, arrival, arrivals } from "./stages.js";
import { number, threeDigits, whole } from "./words.js";

/** "rung 1 → 2", "unigram → bigram". */
function moveTitle(run, rung) {
  const [from, to] = [rung - 1, rung].map((each) => rungTitle(run, each));
  return /^rung /.test(to) ? `${/^rung /.test(from) ? from : "rung 0"} → ${rung}` : `${from} → ${to}`;
}

function stageTable(run) {
  const moves = arrivals(run);
  const levelled = run.stages.some((stages) => stages?.levels.length);
  const header = element(
    "tr",
    {},
    element("th", { scope: "col" }, "seed"),
    moves.map((move) => element("th", { scope: "col" }, moveTitle(run, move.rung))),
    element("th", { scope: "col" }, "stages"),
    levelled ? element("th", { scope: "col" }, run.level_name) : null,
  );
  const rows = run.seeds.map((name, seed) => {
    const stages = run.stages[seed];
    return element(
      "tr",
      {},
      element(
        "th",
        { scope: "row" },
        `${name}`,
        diverged(run, seed)
          ? element("span", { class: "badge fails" }, `diverged at ${whole(run.divergedAt[seed])}`)
          : null,
      ),
      moves.map((move) => element("td", {}, moment(run, arrival(run, seed, move.rung)))),
      element("td", {}, stages?.rungs.length ? stages.rungs.join(" → ") : "–"),
      levelled ? element("td", {}, stages?.levels.length ? stages.levels.map(threeDigits).join(" → ") : "–") : null,
    );
  });
  const middle =
    moves.length > 0 &&
    run.seeds.length > 1 &&
    alike(run).length < 2 && // seeds whose losses fall another number of times have no median together
    element(
      "tr",
      { class: "median" },
      element("th", { scope: "row" }, "median"),
      moves.map((move) =>
        element(
          "td",
          {},
          moment(run, move.step),
          move.interval
            ? element("span", { class: "quiet" }, ` [${move.interval.map((end) => moment(run, end)).join(", ")}]`)
            : null,
          move.seeds < run.seeds.length
            ? element("span", { class: "quiet" }, ` (${move.seeds} of ${run.seeds.length} seeds)`)
            : null,
        ),
      ),
      element("td"),
      levelled ? element("td") : null,
    );
  return scrolling(element("table", { class: "numbers" }, element("thead", {}, header), element("tbody", {}, rows, middle)));
}

/** With the experiment that it is of, where a page has several. */
const titleIn = (run) => (run.section ? `${run.section}: ${run.label}` : run.label);

const MANY_RUNS = 6; // more of them are folded, and drawn when somebody unfolds one

/** Of many runs each is folded under its name; `write()` gives what stands below it. */
function folding(many, name, write) {
  if (!many) return write();
  const fill = () => node.childElementCount > 1 || node.append(...write());
  const node = element("details", { class: "run", ontoggle: fill }, element("summary", {}, name));
  return [node];
}

export function mountStages(host, report) {
  const staged = report.runs.filter((run) => run.stages.some(Boolean));
  const many = staged.length > MANY_RUNS;
  const tables = (run) => {
    const files = saving(`the stages of ${run.label}`, () => fileName(run.label, "stages"), () => stageRows(run), null);
    return folding(many, titleIn(run), () => [element("h3", {}, run.label, files), stageTable(run)]);
  };
  const words = "When a seed went from one stage to the next, in steps (for a gradient flow: in units of its time); a dash where it never did.";
  host.append(
    element("p", { class: "quiet" }, words),
    ...folding(many, `stages of ${staged.length} runs`, () => staged.flatMap(tables)),
  );
  return staged.length > 0;
}

/** {task: {tokens: 50}} as [["task.tokens", "50"]]. */
export function flattened(record, prefix = "") {
  return Object.entries(record).flatMap(([name, value]) => {
    const full = prefix ? `${prefix}.${name}` : name;
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return flattened(value, full);
    return [[full, typeof value === "string" ? value : JSON.stringify(value)]];
  });
}

const pairs = (record) =>
  element(
    "dl",
    { class: "pairs" },
    flattened(record).map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]),
  );

/** How exact the pictures are, and whether they are all here. */
function pictureWords(run) {
  const exact = `Attention matrices are shown to within ${number(run.attentionStep / 2)}.`;
  const { length } = run.snapshot;
  return length < run.pictures_taken
    ? `${exact} ${length} of ${run.pictures_taken} are kept in this page.`
    : exact;
}

export function mountRuns(host, report) {
  const every = () =>
    report.runs.map((run) => {
      const words = run.pictures ? pictureWords(run) : "";
      return element(
        "details",
        { class: "run" },
        element("summary", {}, `${titleIn(run)}: settings and provenance`),
        element("h3", {}, "Settings"),
        pairs(run.settings),
        Object.keys(run.provenance).length ? [element("h3", {}, "Provenance"), pairs(run.provenance)] : null,
        words ? element("p", { class: "quiet" }, words) : null,
      );
    });
  host.append(...folding(report.runs.length > MANY_RUNS, `settings and provenance of ${report.runs.length} runs`, every));
}

export function mountCommands(host, commands) {
  if (!commands.length) return;
  host.append(
    element("h3", {}, "Reproduce this page"),
    element("pre", {}, element("code", {}, commands.join("\n"))),
    element("p", { class: "quiet" }, "In a clone of the repository, type ./run instead of headway."),
  );
}
