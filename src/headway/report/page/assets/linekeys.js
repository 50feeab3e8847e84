// What the lines of the charts are: named by the key on the page, and under a chart that is saved.
import { css } from "./colour.js";
import { byLevels, isHidden, ladderFor, measureOf, rungMeasure, unmarked } from "./terms.js";
import { DASHES } from "./panels.js";
import { beginnings, countedSeeds, shownSeeds } from "./stages.js";
import { ladderOf, rungLevels } from "./traces.js";
import { counted } from "./words.js";

const PATTERNS = { solid: "", dash: "6 4", dot: "2 3", dashdot: "6 3 2 3", longdash: "10 4", longdashdot: "10 3 2 3" };

/** What the second chart's lines are: "heads" in the heads' colours, "rungs" in theirs, or nothing to distinguish. */
export function lineKind(run, state) {
  const choice = ladderFor(run, state.ladder);
  const measure = measureOf(run, choice);
  if (measure) return measure.axes === "heads" ? "heads" : "";
  return choice === "attention" || choice === "values" ? "heads" : choice ? "rungs" : "";
}

/** Which dashes stand for which position, or feature: [{pattern, words}]. */
export function dashKeys(run, state) {
  const choice = ladderFor(run, state.ladder);
  if (choice !== "attention" && choice !== "values") return [];
  const place = choice === "values" ? "feature" : run.place;
  return run.groups.map((_, k) => ({ pattern: PATTERNS[DASHES[k % DASHES.length]], words: `${place} ${k + 1}` }));
}

/** What differs in its looks and not in its colour: [{look, words, quiet}]. */
export function lookKeys(run, state) {
  const seeds = countedSeeds(run, shownSeeds(run, state));
  const several = seeds.length > 1;
  return [
    several && { look: "thick", words: `median of ${counted(seeds.length, "seed")}` },
    several && { look: "", words: `seed ${run.seeds[state.seed]}` },
    several && { look: "faint", words: "the others" },
    rungLevels(run).length && {
      look: "dotted",
      words: byLevels(run) ? "loss of a plateau" : "level of a rung",
      quiet: true,
    },
    beginnings(run).length && { look: "upright", words: `a stage begins${several ? " (median)" : ""}`, quiet: true },
  ].filter(Boolean);
}

const LINES = {
  thick: { "stroke-width": 3 },
  "": { "stroke-width": 1.6 },
  faint: { "stroke-width": 1, "stroke-opacity": 0.38 },
  dotted: { "stroke-width": 1.5, "stroke-dasharray": "2 3" },
  upright: { "stroke-width": 1, "stroke-dasharray": "5 4" },
};

/** All of it for a file, as `caption` wants it; curves that are hidden are left out. */
export function lineKeys(run, state, palette, theme) {
  const shown = (key) => !isHidden(run, state, key);
  const solid = { "stroke-width": 3 };
  const looks = lookKeys(run, state).map(({ look, words, quiet }) => {
    return { words, colour: quiet ? theme.muted : theme.ink, line: LINES[look] };
  });
  const kind = lineKind(run, state);
  if (!kind) return looks;
  if (kind === "heads") {
    const heads = palette.heads.flatMap((colour, head) =>
      shown(`heads ${head}`) ? [{ words: `head ${head + 1}`, colour: css(colour), line: solid }] : [],
    );
    const dashes = dashKeys(run, state).map(({ pattern, words }) => {
      return { words, colour: theme.ink, line: { "stroke-width": 2, "stroke-dasharray": pattern } };
    });
    return [...heads, ...dashes, ...looks];
  }
  const ladder = ladderOf(run, state, palette);
  const rungs = ladder.names.flatMap((name, rung) => {
    const words = `${rungMeasure(run)} to ${unmarked(name)}`;
    return shown(`${state.ladder} ${rung}`) ? [{ words, colour: ladder.colours[rung], line: solid }] : [];
  });
  return [...rungs, ...looks];
}
