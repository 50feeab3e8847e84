// What happened altogether, in words, from the measured numbers.
import { caveats, lossEnds, thresholdWords } from "./lead.js";
import { byLadder, byLevels, clockWord, inUnit, lossUnit, rungMeasure, rungName, stageName, theLoss, when } from "./terms.js";
import { alike, allStages, arrivals, countedSeeds, departure, enteredLast, inOrder, lastStage } from "./stages.js";
import { counted, joined, sentence, threeDigits } from "./words.js";

/** "4 seeds, 700 steps; every seed entered stage 3 of 3." */
function orderWords(run) {
  const steps = run.evaluation.at(-1);
  const count = run.seeds.length;
  const length = run.clock.whole ? counted(steps, "step") : `to ${when(run, steps)}`;
  const size = `${counted(count, "seed")}${steps === undefined ? "" : `, ${length}`}`;
  if (!run.stages.some(Boolean)) return `${size}.`;
  if (!byLadder(run) && !byLevels(run)) return `${size}; ${dropWords(run)}.`;
  const [did, didNot] = byLadder(run)
    ? ["entered", "did not enter"].map((verb) => `${verb} ${lastStage(run)}`)
    : ["went", "did not go"].map((verb) => `${verb} through ${allStages(run)}`);
  const through = run.seeds.filter((_, seed) => (byLadder(run) ? enteredLast : inOrder)(run, seed)).length;
  const short = shortWords(run);
  if (count === 1) return `${size}; it ${through ? did : didNot}.${short}`;
  return `${size}; ${through === count ? "every seed" : `${through} of ${count} seeds`} ${did}.${short}`;
}

/** What the seeds did that did not go through all stages in order: "" if there are none. */
function departures(run) {
  const others = run.seeds.map((_, seed) => seed).filter((seed) => !inOrder(run, seed));
  if (!others.length) return "";
  const every = (seeds) => seeds.length === run.seeds.length && seeds.length > 1;
  const named = (seeds) => every(seeds) ? "all seeds" : `${seeds.length > 1 ? "seeds" : "seed"} ${joined(seeds.map((seed) => run.seeds[seed]))}`;
  const end = (seed) => run.stages[seed]?.rungs.at(-1) ?? 0;
  const kinds = [...new Set(others.toSorted((a, b) => end(a) - end(b)).map((seed) => departure(run, seed)))];
  const each = kinds.map((kind) => {
    const own = others.filter((seed) => departure(run, seed) === kind);
    return every(own) && /^made no /.test(kind) ? kind.replace("made no ", "no seed made a ") : `${named(own)} ${kind}`;
  });
  return ` ${sentence(joined(each))}.`;
}

/** " Its KL minima are in order in 10 of 10 seeds: a stage takes a turn": "" where both counts are the same. */
function minimaWords(run) {
  if (!byLadder(run) || !run.arrays.kl_rungs) return "";
  const count = (inThis) => run.seeds.filter((_, seed) => inThis(run, seed)).length;
  const [byMinima, byTurns] = [count(minimaInOrder), count(inOrder)];
  if (byMinima === byTurns) return "";
  const minima = `${sentence(rungMeasure(run))} minima are ${byMinima ? "" : "not "}in order`;
  const where = run.seeds.length > 1 && byMinima ? ` in ${byMinima} of ${run.seeds.length} seeds` : "";
  return ` ${minima}${where}; a stage also requires a turn, and must last (see the words used on this page).`;
}

/** What the seeds did that went another way, and the count by minima where it differs. */
export const shortWords = (run) => `${departures(run)}${minimaWords(run)}`;

/** Whether KL to every rung, from the first on, reaches its minimum later than to the one before: what A1 asks. */
function minimaInOrder(run, seed) {
  const kl = run.arrays.kl_rungs;
  if (!kl) return false;
  const lowest = Array.from({ length: run.rungs }, (_, k) => {
    const values = [...run.evaluation].map((_, time) => kl.at(seed, time, k + 1));
    return values.indexOf(Math.min(...values.filter(Number.isFinite)));
  });
  return lowest.every((place, k) => k === 0 || place > lowest[k - 1]);
}

/** " .. not that it has arrived: at the last step, KL to the truth is 0.0843 to 0.314 over seeds." */
function arrivedWords(run) {
  const kl = run.arrays.kl_rungs;
  if (!byLadder(run) || !kl || !run.stages.some((stages) => stages?.rungs.length)) return [];
  const ends = countedSeeds(run).flatMap((seed) => {
    const values = [...run.evaluation].map((_, time) => kl.at(seed, time, run.rungs));
    return values.filter(Number.isFinite).slice(-1);
  });
  if (!ends.length) return [];
  const [least, most] = [Math.min(...ends), Math.max(...ends)].map(threeDigits);
  const span = least !== most ? `${least} to ${most} over seeds` : `${least}${ends.length > 1 ? " in every seed" : ""}`;
  const away = `at the last ${clockWord(run)}, ${rungMeasure(run)} to ${rungName(run, run.rungs)} is ${span}`;
  return [`Entering a stage means that the model has turned towards its rung, not that it has arrived: ${away}.`];
}

const TIMES = { 1: "once", 2: "twice" };

/** "the loss falls once in 3 seeds and falls twice in 1 seed". */
function dropWords(run) {
  const counts = run.stages.map((stages) => stages?.rungs.length ?? 0);
  const { rises } = run.progress;
  const [what, moves] = rises ? [theLoss(run), "rises"] : ["the loss", "falls"];
  const times = (count) => (count ? `${moves} ${TIMES[count] ?? `${count} times`}` : "comes to no plateau");
  const kinds = [...new Set(counts)].sort((a, b) => a - b);
  const many = (count) => counts.filter((each) => each === count).length;
  if (kinds.length === 1) return `${what} ${times(kinds[0])}${counts.length < 2 ? "" : kinds[0] ? " in every seed" : " in any seed"}`;
  return `${what} ${joined(kinds.map((count) => `${times(count)} in ${counted(many(count), "seed")}`))}`;
}

/** "The drops are half done, in the median, at step 300 and at step 900 (2 of 4 seeds).", by how often the loss falls. */
function halfDone(run) {
  const groups = alike(run).map((seeds) => {
    const moves = arrivals(run, seeds).filter((move) => Number.isFinite(move.step));
    return { seeds, drops: moves.map((move) => `at ${when(run, move.step)}`) };
  });
  const many = run.seeds.length > 1 ? ", in the median," : "";
  const [noun, moves] = run.progress.rises ? ["rise", "rises"] : ["drop", "falls"];
  if (groups.length > 1) {
    const each = groups.map(({ drops }) => `${joined(drops)} where it ${moves} ${TIMES[drops.length] ?? `${drops.length} times`}`);
    return `The ${noun}s are half done${many} ${each.join("; ")}${inUnit(run)}.`;
  }
  const [{ seeds, drops }] = groups;
  const some = seeds.length < run.seeds.length ? ` (${seeds.length} of ${run.seeds.length} seeds)` : "";
  return `${drops.length > 1 ? `The ${noun}s are` : `The ${noun} is`} half done${many} ${joined(drops)}${inUnit(run)}${some}.`;
}

/** One run in a few sentences, with all that the first one leaves out. */
export function summarise(run) {
  const sentences = [orderWords(run)];
  const moves = arrivals(run).filter((move) => Number.isFinite(move.step));
  if (moves.length) {
    const goal = (rung) => (byLadder(run) ? stageName(run, rung) : rungName(run, rung));
    const share = (move) => (move.seeds < run.seeds.length ? ` (of the ${move.seeds} that did)` : "");
    const each = moves.map((move) => `${goal(move.rung)} at ${when(run, move.step)}${share(move)}`);
    if (byLadder(run) || byLevels(run))
      sentences.push(`${run.seeds.length === 1 ? "It" : "The median seed"} ${byLadder(run) ? "entered" : "reached"} ${joined(each)}.`);
    else sentences.push(halfDone(run));
  }
  sentences.push(...arrivedWords(run));
  const ends = lossEnds(run);
  if (ends) {
    const { rises } = run.progress;
    // A run that overfits ends above its best: both numbers belong to the story.
    const lowest = ends.best === null ? "" : `, ${rises ? "highest" : "lowest"} ${threeDigits(ends.best)} at ${when(run, ends.at)}`;
    sentences.push(`${sentence(theLoss(run))} went from ${threeDigits(ends.first)} to ${threeDigits(ends.last)}${lossUnit(run)}${lowest}.`);
  }
  sentences.push(thresholdWords(run), ...caveats(run));
  return sentences.filter(Boolean).join(" ");
}

/** "Of 6 claims of the grid quick, 5 hold and 1 holds partly." */
export function tally(findings) {
  const say = {
    holds: ["holds", "hold"],
    partly: ["holds partly", "hold partly"],
    fails: ["fails", "fail"],
    "cannot be judged": ["cannot be judged", "cannot be judged"],
    "not run": ["was not run", "were not run"],
    "not in grid": ["is about runs that the grid does not have", "are about runs that the grid does not have"],
  };
  const grids = [...new Set(findings.map((finding) => finding.grid))];
  return grids
    .map((grid) => {
      const own = findings.filter((finding) => finding.grid === grid);
      const parts = Object.entries(say).flatMap(([verdict, [one, many]]) => {
        const count = own.filter((finding) => finding.verdict === verdict).length;
        return count ? [`${count} ${count === 1 ? one : many}`] : [];
      });
      return `Of ${counted(own.length, "claim")} of the grid ${grid}, ${joined(parts)}.`;
    })
    .join(" ");
}
