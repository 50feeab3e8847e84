// What happened, in one sentence, and what a reader must not miss: training that ended early, seeds that diverged.
import { diverged } from "./data.js";
import { settlingOf } from "./settling.js";
import { allStages, arrivals, countedSeeds, departure, enteredLast, inOrder, lastStage } from "./stages.js";
import { byLadder, byLevels, clockWord, inUnit, lossOf, lossUnit, moment, rungName, theLoss, when } from "./terms.js";
import { counted, joined, median, number, percent, sentence, threeDigits, whole } from "./words.js";

/** The last moment that was measured, and the one that was asked for. */
export function ending(run) {
  const { planned } = run.clock;
  const last = run.evaluation.at(-1) ?? 0;
  // The last evaluation of a finished run may lie a rounding away from its end.
  return { last, planned: planned > last * (1 + 1e-6) ? planned : last };
}

/** The median of the progress at its first, best and last time: {first, last, best, at}; null without numbers. */
export function lossEnds(run) {
  const [loss, seeds] = [lossOf(run), countedSeeds(run)];
  if (!loss || !run.evaluation.length || !seeds.length) return null;
  const medians = [...run.evaluation].map((_, time) => median(seeds.map((seed) => loss.at(seed, time))));
  const end = medians.findLastIndex(Number.isFinite); // who stops when all is learned has no numbers afterwards
  if (end < 0) return null;
  const finite = medians.filter(Number.isFinite);
  const best = medians.indexOf(run.progress.rises ? Math.max(...finite) : Math.min(...finite));
  return { first: medians[0], last: medians[end], best: best < end ? medians[best] : null, at: run.evaluation[best] };
}

/** "all 10 seeds entered", "2 of 4 seeds learnt", "seed 0 did not enter". */
const everySeed = (run, count, [verb, infinitive]) => {
  const all = run.seeds.length;
  if (all === 1) return `seed ${run.seeds[0]} ${count ? verb : `did not ${infinitive}`}`;
  return count === all ? `${all === 2 ? "both" : `all ${all}`} seeds ${verb}` : `${count || "none"} of ${all} seeds ${verb}`;
};

/** What the levels of a loss are, together: "feature 1 and feature 2", "4 components" where they only count up. */
function rungsTogether(run) {
  const names = Array.from({ length: run.rungs }, (_, k) => rungName(run, k + 1));
  if (names.every((name, k) => name.startsWith(`${k + 1} `))) return names.at(-1);
  const short = names.length <= 4 && names.every((name) => name.length < 24 && !/^rung |^the truth$/.test(name));
  return short ? joined(names) : allStages(run);
}

/** " (seed 7 ended in stage 2)", " and made no turn to stage 1" where all did: of few seeds each, of more their number. */
function departureWords(run) {
  const others = run.seeds.map((_, seed) => seed).filter((seed) => !inOrder(run, seed) && !diverged(run, seed));
  const ends = others.map((seed) => departure(run, seed));
  const kinds = [...new Set(ends)];
  if (kinds.length === 1 && others.length === run.seeds.length && enteredLast(run, others[0])) return ` and ${kinds[0]}`;
  const each = kinds.map((end) => {
    const own = others.filter((_, k) => ends[k] === end);
    return `${own.length > 3 ? own.length : `${own.length > 1 ? "seeds" : "seed"} ${joined(own.map((seed) => run.seeds[seed]))}`} ${end}`;
  });
  return each.length && run.seeds.length > 1 ? ` (${joined(each)})` : "";
}

/** "all 10 seeds entered stage 3 of 3", "7 of 8 seeds entered stage 3 of 3 by step 800 (seed 7 ended in stage 2)". */
function passedWords(run) {
  const counting = (inThis) => run.seeds.filter((_, seed) => inThis(run, seed)).length;
  if (!byLadder(run)) return `${everySeed(run, counting(inOrder), ["learnt", "learn"])} ${rungsTogether(run)}${run.rungs > 1 ? " one after another" : ""}`;
  const entered = counting(enteredLast);
  const last = run.evaluation.at(-1);
  const until = entered < run.seeds.length && last !== undefined ? ` by ${when(run, last)}` : "";
  return `${everySeed(run, entered, ["entered", "enter"])} ${lastStage(run)}${until}${departureWords(run)}`;
}

/** ", stage 2 began at step 160 and stage 3 at step 422 (medians)"; of long ladders the last one. */
function reachedWords(run) {
  const moves = arrivals(run).filter((move) => Number.isFinite(move.step));
  const named = moves.length > 3 ? moves.slice(-1) : moves;
  if (!named.length) return "";
  const middle = named.length > 1 ? "medians" : "median";
  const list = (name, verb) => joined(named.map(({ rung, step }, k) => `${name(rung)}${k ? "" : verb} at ${when(run, step)}`));
  const goal = (rung) => rungName(run, rung);
  const all = run.seeds.every((_, seed) => inOrder(run, seed));
  const whose = run.seeds.length > 1 ? ` (${middle}${all ? "" : " of the seeds that did"})` : "";
  if (byLadder(run)) return `; ${list((rung) => `stage ${rung}`, " began")}${run.seeds.length > 1 ? ` (${middle})` : ""}`;
  return all ? `, reaching ${list(goal, "")}${whose}` : `; ${list(goal, " was reached")}${whose}`;
}

/** {who: "in all 8 seeds ", fall: "falls in one drop, half done at step 300"}. */
function fallWords(run) {
  const counts = run.stages.map((stages) => stages?.rungs.length ?? 0);
  const most = counts.toSorted((a, b) => a - b)[Math.floor((counts.length - 1) / 2)]; // of an even number the lower middle
  const { rises } = run.progress;
  const noun = rises ? "rise" : "drop";
  const times = most ? `in ${{ 1: "one", 2: "two", 3: "three" }[most] ?? number(most)} ${noun}${most === 1 ? "" : "s"}` : "without coming to a plateau";
  const such = run.seeds.map((_, seed) => seed).filter((seed) => counts[seed] === most); // the first of two drops is another's only
  const moves = arrivals(run, such).filter((move) => Number.isFinite(move.step));
  const places = moves.length ? `, half done at ${joined(moves.map(({ step }) => when(run, step)))}${inUnit(run)}` : "";
  const who = counts.length === 1 ? "" : such.length === counts.length ? `in all ${counts.length} seeds ` : `in ${such.length} of ${counts.length} seeds `;
  return { who, fall: `${rises ? "grows" : "falls"} ${times}${places}` };
}

/** "falls from 51.7 to 0.599 within the first 50 steps, stays near 0.5, the loss of a model that has learnt nothing, and then falls .. to 0.0321." */
function settledWords(run, { level, first, value, at }, { last }) {
  const { who, fall } = fallWords(run);
  const early = run.clock.whole ? `within the first ${counted(at, clockWord(run))}` : `by ${when(run, at)}`;
  const start = `${who}${theLoss(run)} falls from ${threeDigits(first)} to ${threeDigits(value)} ${early}`;
  const after = last < level ? `stays near ${number(level)}, the loss of a model that has learnt nothing, and then ${fall}, to` : "and ends at";
  return `${start}, ${after} ${threeDigits(last)}${lossUnit(run)}`;
}

/** "while the excess loss fell from 3.31 to 0.0961 nats". */
function lossSpan(run) {
  const ends = lossEnds(run);
  if (!ends) return "";
  if (ends.last === ends.first) return `${theLoss(run)} stayed at ${threeDigits(ends.last)}${lossUnit(run)}`;
  const verb = ends.last < ends.first ? "fell" : "rose";
  return `${theLoss(run)} ${verb} from ${threeDigits(ends.first)} to ${threeDigits(ends.last)}${lossUnit(run)}`;
}

/** One sentence for the top of the page. */
export function leadSentence(run) {
  const [loss, settling, ends] = [lossSpan(run), settlingOf(run), lossEnds(run)];
  if (settling && ends) return `${sentence(settledWords(run, settling, ends))}.`;
  if (!run.stages.some(Boolean)) return `${sentence(loss || "nothing was measured over time")} in ${counted(run.seeds.length, "seed")}.`;
  if (!byLadder(run) && !byLevels(run)) {
    const { who, fall } = fallWords(run);
    const all = /^in \d+ of /.test(who) ? "; its median over all seeds went" : ","; // what some did is not what all came to
    const numbers = ends ? `${all} from ${threeDigits(ends.first)} to ${threeDigits(ends.last)}${lossUnit(run)}` : "";
    return `${sentence(`${who}${theLoss(run)} ${fall}`)}${numbers}.`;
  }
  return `${sentence(`${passedWords(run)}${reachedWords(run)}${loss && `, while ${loss}`}`)}.`;
}

/** "Training ended at step 1 325 of at most 50 000: the loss had reached its threshold, 0.1."; "" where it went on. */
export function thresholdWords(run) {
  const { level, measure, most, tail = 0, stopped = [] } = run.threshold ?? {};
  const ends = run.stoppedAt.filter((_, seed) => stopped[seed]);
  if (!ends.length) return "";
  const [first, last] = [Math.min(...ends), Math.max(...ends)].map(whole);
  const where = first === last ? `step ${first}` : `steps ${first} to ${last}`;
  const after = tail > 0 ? `, and training went on for ${percent(tail)} of the steps until then` : "";
  const some = ends.length < run.seeds.length ? `In ${ends.length} of ${run.seeds.length} seeds training` : "Training";
  return `${some} ended at ${where} of at most ${whole(most)}: the ${measure} had reached its threshold, ${number(level)}${after}.`;
}

/** What stands beside it as a warning: how far a run came that ended early, and who diverged. */
export function caveats(run) {
  const { last, planned } = ending(run);
  const place = `${when(run, last)} of ${moment(run, planned)}`;
  const early = `The numbers end at ${place}: the run was interrupted or is still in progress.`;
  const gone = run.seeds.flatMap((name, seed) =>
    diverged(run, seed) ? [`${name} at step ${whole(run.divergedAt[seed])}`] : [],
  );
  return [last < planned ? early : "", gone.length ? `${counted(gone.length, "seed")} diverged: ${joined(gone)}.` : ""].filter(Boolean);
}
