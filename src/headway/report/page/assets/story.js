// What happened from stage to stage, in words made from the numbers that were measured there.
import { blockMasses } from "./data.js";
import { isFlow, lossOf, lossUnit, lossWord, moment, placeWord, when } from "./kinds.js";
import { heldBlock } from "./narration.js";
import { showcase, stagesOf } from "./stages.js";
import { counted, headWords, joined, number, percent, sentence } from "./words.js";

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
export function moveWords(before, now, place) {
  const said = moves(before, now).map(({ heads, from, to }) => {
    const block = to >= 0 ? to : from;
    if (block < 0) return stillLoose(heads, before, now, place);
    const share = (masses, head) => percent(masses[head].blocks[block]);
    const shares = heads.map((head) => `${share(before, head)} → ${share(now, head)}`);
    const measured = ` (${joined(shares)} of ${heads.length > 1 ? "their" : "its"} attention)`;
    const named = headWords(heads);
    if (from === to) return `${named} stayed on ${place} ${to + 1}${measured}`;
    if (from < 0) return `${named} settled on ${place} ${to + 1}${measured}`;
    if (to < 0) return `${named} let go of ${place} ${from + 1}${measured}`;
    return `${named} left ${place} ${from + 1} for ${place} ${to + 1}${measured}`;
  });
  return said.join("; ");
}

/** Of heads that hold nothing, the largest change that one of them made. */
function stillLoose(heads, before, now, place) {
  const changes = heads.flatMap((head) =>
    now[head].blocks.map((share, block) => ({ head, block, share, past: before[head].blocks[block] })),
  );
  const known = changes.filter(({ share, past }) => Number.isFinite(share - past));
  const growth = ({ share, past }) => share - past;
  const largest = known.reduce((best, each) => (growth(each) > growth(best) ? each : best), known[0]);
  const still = `${headWords(heads)} still ${heads.length > 1 ? "hold" : "holds"} no ${place}`;
  if (!largest || growth(largest) < CHANGED) return still;
  const grown = `${percent(largest.past)} → ${percent(largest.share)}`;
  const who = heads.length > 1 ? `head ${largest.head + 1}` : "it";
  return `${still}, though ${who} now gives ${place} ${largest.block + 1} more (${grown})`;
}

/** "Since step 60 the excess loss fell from 1.1 to 0.38 nats". */
function lossWords(run, seed, before, now) {
  const loss = lossOf(run);
  const [past, value] = [before, now].map((time) => loss?.at(seed, run.nearest[time]));
  if (!Number.isFinite(past) || !Number.isFinite(value)) return "";
  const verb = value < past ? "fell" : "rose";
  const since = `Since ${when(run, run.times[before])}`;
  return `${since} the ${lossWord(run)} ${verb} from ${number(past)} to ${number(value)}${lossUnit(run)}.`;
}

/** Which moment of the stage the card tells of: a stage is long, and its other moments have other numbers. */
function momentWords(run, seed, stage, time) {
  const here = `at ${when(run, run.times[time])}`;
  if (isFlow(run)) return `${here}, nearest to the loss ${number(run.task.plateaus[stage.rung])} at which it waits`;
  const kl = run.arrays.kl_rungs?.at(seed, run.nearest[time], stage.rung);
  const name = stage.rung === run.rungs ? "the truth" : `rung ${stage.rung}`;
  return Number.isFinite(kl) ? `${here}, closest to ${name} (KL ${number(kl)})` : here;
}

/** "Rung 2 was skipped." */
function skipWords(run, stage, before) {
  const missed = Array.from({ length: Math.max(0, stage.rung - before - 1) }, (_, k) => before + 1 + k);
  if (!missed.length || isFlow(run)) return "";
  return `${missed.length > 1 ? "Rungs" : "Rung"} ${joined(missed)} ${missed.length > 1 ? "were" : "was"} skipped.`;
}

const goal = (run, { rung }) => (isFlow(run) ? counted(rung, "feature") : `rung ${rung} of ${run.rungs}`);

/** The chapters of a seed: [{number, title, span, words, time, from}]; the first is before anything was learned. */
export function storyOf(run, seed, layer) {
  const stages = stagesOf(run, seed).filter((stage) => showcase(run, seed, stage) >= 0);
  if (!run.times.length || !stages.length) return [];
  const start = blockMasses(run, seed, layer, 0);
  const place = placeWord(run);
  const most = Math.max(...start.flatMap(({ blocks }) => blocks).filter(Number.isFinite), 0);
  const loss = lossOf(run)?.at(seed, run.nearest[0]);
  const opening = {
    number: 0,
    title: "The start",
    span: `until ${when(run, stages[0].from)}`,
    words: [
      start.length ? `Attention is spread: no head gives more than ${percent(most)} of it to any ${place}.` : "",
      Number.isFinite(loss) ? `The ${lossWord(run)} is ${number(loss)}${lossUnit(run)}.` : "",
    ].filter(Boolean),
    time: 0,
    from: -Infinity,
  };
  let before = 0;
  const chapters = stages.map((stage, k) => {
    const time = showcase(run, seed, stage);
    const [past, now] = [before, time].map((each) => blockMasses(run, seed, layer, each));
    const moved = now.length ? `: ${moveWords(past, now, place)}.` : ".";
    const skipped = skipWords(run, stage, stages[k - 1]?.rung ?? 0);
    const told = sentence(`${momentWords(run, seed, stage, time)}${moved}`);
    const words = [skipped, told, lossWords(run, seed, before, time)];
    before = time;
    return {
      number: stage.number,
      title: `Stage ${stage.number}`,
      span: `${goal(run, stage)}, ${when(run, stage.from)} to ${moment(run, stage.until)}`,
      words: words.filter(Boolean),
      time,
      from: stage.from,
    };
  });
  return [opening, ...chapters];
}

/** The chapter that is being told at a time. */
export const chapterAt = (story, time) => story.findLastIndex((chapter) => chapter.from <= time);
