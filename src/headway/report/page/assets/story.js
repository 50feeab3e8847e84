// What happened from stage to stage, in words made from the numbers that were measured there.
import { blockMasses } from "./data.js";
import { blocksAreRungs, byLadder, byLevels, inUnit, lossOf, lossUnit, lossWord, moment, placeName, placesOf, placeWord, rungMeasure, rungName, stageName, theLoss, when } from "./terms.js";
import { heldBlock, heldPercent } from "./narration.js";
import { settlingOf } from "./settling.js";
import { showcase, stagesOf } from "./stages.js";
import { headWords, joined, number, percent, sentence, threeDigits } from "./words.js";

const CHANGED = 0.1; // of a head's attention: less is not worth a sentence

/** Heads that did the same between two times: [{heads, from, to}], -1 where they held no block. */
function moves(before, now) {
  const groups = new Map();
  now.forEach((masses, head) => {
    const key = `${heldBlock(before[head])} ${heldBlock(masses)}`;
    groups.set(key, [...(groups.get(key) ?? []), head]);
  });
  return [...groups].map(([key, heads]) => ({ heads, from: Number(key.split(" ")[0]), to: Number(key.split(" ")[1]) }));
}

/** "head 3 left block 1 for block 2 (4 % → 86 % of its attention)". */
export function moveWords(before, now, places) {
  const said = moves(before, now).map(({ heads, from, to }) => {
    const block = to >= 0 ? to : from;
    if (block < 0) return stillLoose(heads, before, now, places);
    const share = (masses, head) => heldPercent(masses[head].blocks[block]);
    const shares = heads.map((head) => `${share(before, head)} → ${share(now, head)}`);
    const measured = ` (${joined(shares)} of ${heads.length > 1 ? "their" : "its"} attention)`;
    const named = headWords(heads);
    if (from === to) return `${named} stayed on ${placeName(places, to)}${measured}`;
    if (from < 0) return `${named} settled on ${placeName(places, to)}${measured}`;
    if (to < 0) return `${named} let go of ${placeName(places, from)}${measured}`;
    return `${named} left ${placeName(places, from)} for ${placeName(places, to)}${measured}`;
  });
  return said.join("; ");
}

/** Of heads that hold nothing, the largest change that one of them made. */
function stillLoose(heads, before, now, places) {
  const changes = heads.flatMap((head) =>
    now[head].blocks.map((share, block) => ({ head, block, share, past: before[head].blocks[block] })),
  );
  const known = changes.filter(({ share, past }) => Number.isFinite(share - past));
  const growth = ({ share, past }) => share - past;
  const largest = known.reduce((best, each) => (growth(each) > growth(best) ? each : best), known[0]);
  const still = `${headWords(heads)} still ${heads.length > 1 ? "hold" : "holds"} no ${placeWord(places)}`;
  if (!largest || growth(largest) < CHANGED) return still;
  const grown = `${heldPercent(largest.past)} → ${heldPercent(largest.share)}`;
  const who = heads.length > 1 ? `head ${largest.head + 1}` : "it";
  return `${still}, though ${who} now attends more to ${placeName(places, largest.block)} (${grown})`;
}

/** "; no head holds block 3 yet; head 2 has the most attention on it, 30 %": "" where one does hold it. */
export function unheldWords(before, now, block, places, where = "") {
  const holds = (masses) => masses.some((each) => heldBlock(each) === block);
  const shares = now.map(({ blocks }) => blocks[block]);
  const most = Math.max(...shares.filter(Number.isFinite));
  if (holds(now) || !Number.isFinite(most)) return "";
  const yet = holds(before) ? "" : " yet"; // it may have been let go
  const leading = `${headWords([shares.indexOf(most)])} has the most attention on it, ${heldPercent(most)}`;
  return `; no head${where} holds ${placeName(places, block)}${yet}; ${leading}`;
}

/** "Since step 60 the excess loss has fallen from 1.1 to 0.38 nats."; by itself "By step 300 .. nats (since step 60)." */
function lossWords(run, seed, before, now, alone) {
  const loss = lossOf(run);
  const [past, value] = [before, now].map((time) => loss?.at(seed, run.nearest[time]));
  if (!Number.isFinite(past) || !Number.isFinite(value)) return "";
  const verb = value < past ? "has fallen" : "has risen";
  const change = `${theLoss(run)} ${verb} from ${threeDigits(past)} to ${threeDigits(value)}${lossUnit(run)}`;
  const since = `since ${when(run, run.times[before])}`;
  return alone ? `By ${when(run, run.times[now])}${inUnit(run)} ${change} (${since}).` : `${sentence(since)} ${change}.`;
}

const momentOf = (run, time) => `at ${when(run, run.times[time])}`;

/** Which moment of the stage the card describes: a stage is long, and its other moments have other numbers. */
function momentWords(run, seed, stage, time) {
  const here = momentOf(run, time);
  if (byLevels(run)) return `${here}, closest to the plateau at ${threeDigits(run.levels[stage.rung])}`;
  const kl = run.arrays.kl_rungs?.at(seed, run.nearest[time], stage.rung);
  return Number.isFinite(kl) ? `${here}, where ${rungMeasure(run)} to ${rungName(run, stage.rung)} is ${threeDigits(kl)}` : here;
}

const CLOSE = 0.05; // of the way from the first level to the last: between rungs that are closer no turn can be seen

/** " (its loss, 0.466, is close to that of silence, 0.478)": "" where the level of a rung is unknown, or lies apart. */
function closeWords(run, rung) {
  const [first, before, own, last] = [0, rung - 1, rung, run.rungs].map((each) => run.levels?.[each] ?? NaN);
  if (!(Math.abs(before - own) < CLOSE * Math.abs(first - last))) return "";
  const word = /^half /i.test(lossWord(run)) ? "loss" : lossWord(run);
  return ` (its ${word}, ${threeDigits(own)}, is close to that of ${rungName(run, rung - 1)}, ${threeDigits(before)})`;
}

/** "No turn to rung 2 was seen.": between the stage before and this one. */
function missedWords(run, stage, before) {
  const missed = Array.from({ length: Math.max(0, stage.rung - before - 1) }, (_, k) => before + 1 + k);
  if (!missed.length || !byLadder(run)) return "";
  const close = missed.length > 1 ? "" : closeWords(run, missed[0]);
  return `No turn to ${joined(missed.map((rung) => rungName(run, rung)))} was seen${close}.`;
}

/** "rung 2 of 3", "unigram". */
function goal(run, { rung }) {
  const name = rungName(run, rung);
  return /^rung |^the truth$/.test(name) ? `rung ${rung} of ${run.rungs}` : name;
}

const MOST_MINIMA = 4; // minima that a reader follows in one sentence

/** "KL to unigram reaches its minimum (0.02) at step 120, to bigram (0.01) at step 600": the minima by which stages are found. */
function minimumWords(run, seed, stages) {
  const kl = run.arrays.kl_rungs;
  const rungs = [...new Set(stages.map(({ rung }) => rung))]; // some are left and entered again
  const minima = (kl && rungs.length <= MOST_MINIMA ? rungs : []).flatMap((rung) => {
    const values = [...run.evaluation].map((_, time) => kl.at(seed, time, rung));
    const lowest = Math.min(...values.filter(Number.isFinite));
    const at = values.indexOf(lowest);
    const last = at === values.findLastIndex(Number.isFinite); // a minimum that was not passed may still move
    return Number.isFinite(lowest) ? [{ rung, lowest, at: run.evaluation[at], last }] : [];
  });
  const each = minima.map(({ rung, lowest, at, last }, k) => {
    const end = last ? ", the last evaluation" : "";
    return `to ${rungName(run, rung)}${k ? "" : " reaches its minimum"} (${threeDigits(lowest)}) at ${when(run, at)}${end}`;
  });
  return each.length ? ` ${sentence(rungMeasure(run))} ${joined(each)}.` : "";
}

/** The whole story of a seed: "Seed 0: stage 1 (unigram) from step 12, stage 2 (bigram) from step 310." and the minima. */
export function storyline(run, seed) {
  const stages = stagesOf(run, seed);
  if (!stages.length) return "";
  const who = `seed ${run.seeds[seed]}`;
  if (!byLadder(run)) {
    const begins = stages.map((stage) => `at ${when(run, stage.from)}${byLevels(run) ? ` (${rungName(run, stage.rung)})` : ""}`);
    return run.progress.rises ? `The ${lossWord(run)} of ${who} rises ${joined(begins)}.` : `The loss of ${who} falls ${joined(begins)}.`;
  }
  const parts = stages.map((stage) => `${stageName(run, stage.rung)} from ${when(run, stage.from)}`);
  return `${sentence(who)}: ${parts.join(", ")}.${minimumWords(run, seed, stages)}`;
}

/** The chapters of a seed: [{number, title, span, words, time, from}]; the first is before anything was learned. */
export function storyOf(run, seed, layer) {
  const stages = stagesOf(run, seed).filter((stage) => showcase(run, seed, stage) >= 0);
  if (!run.times.length || !stages.length) return [];
  const start = blockMasses(run, seed, layer, 0);
  const places = placesOf(run);
  const most = Math.max(...start.flatMap(({ blocks }) => blocks).filter(Number.isFinite), 0);
  const loss = lossOf(run)?.at(seed, run.nearest[0]);
  const settled = settlingOf(run, [seed]);
  const opening = {
    number: 0,
    title: "The start",
    span: `until ${when(run, stages[0].from)}`,
    words: [
      start.length ? `At first attention is spread: no head gives more than ${percent(most)} of it to any ${places.word}.` : "",
      Number.isFinite(loss) ? `${sentence(theLoss(run))} begins at ${threeDigits(loss)}${lossUnit(run)}.` : "",
      settled ? `At ${when(run, settled.at)} it is ${threeDigits(settled.value)}${lossUnit(run)}; a model that has learnt nothing has ${number(settled.level)}.` : "",
    ].filter(Boolean),
    time: 0,
    from: -Infinity,
  };
  let before = 0;
  const chapters = stages.map((stage, k) => {
    const time = showcase(run, seed, stage);
    const [past, now] = [before, time].map((each) => blockMasses(run, seed, layer, each));
    const where = run.layers > 1 ? ` of layer ${layer + 1}` : "";
    const unheld = byLadder(run) && blocksAreRungs(run) ? unheldWords(past, now, stage.rung - 1, places, where) : "";
    const moved = now.length ? `: ${moveWords(past, now, places)}${unheld}.` : ".";
    const missed = missedWords(run, stage, stages[k - 1]?.rung ?? 0);
    const placed = momentWords(run, seed, stage, time);
    const alone = !now.length && placed === momentOf(run, time); // there is nothing to say but the loss
    const told = alone ? "" : sentence(`${now.length ? placed : placed.replace(", where ", ", ")}${moved}`);
    const words = [missed, told, lossWords(run, seed, before, time, alone)];
    before = time;
    return {
      number: stage.number,
      title: ["ladder", "levels", "loss"].includes(run.stages_from) ? `Stage ${stage.number}` : sentence(rungName(run, stage.rung)),
      span: `${byLadder(run) || byLevels(run) ? `${goal(run, stage)}, ` : ""}${when(run, stage.from)} to ${moment(run, stage.until)}`,
      words: words.filter(Boolean),
      time,
      from: stage.from,
    };
  });
  return stages[0].from > run.times[0] ? [opening, ...chapters] : chapters; // a run may begin in its first stage
}

/** The chapter of a time. */
export const chapterAt = (story, time) => story.findLastIndex((chapter) => chapter.from <= time);
