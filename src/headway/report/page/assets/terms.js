// The words and units of a run, all of them from what its record says: no task is known here by its name.
import { number, sentence, whole } from "./words.js";

export const clockWord = (run) => run.clock.word;

/** Steps are counted, a flow's time is measured. */
export const moment = (run, time) => (run.clock.whole ? whole(time) : number(time));

/** "step 300", "time 45.4". */
export const when = (run, time) => `${clockWord(run)} ${moment(run, time)}`;

/** " (in predicted plateaus)", behind a time whose unit is not that of the flow itself. */
export const inUnit = (run) => (run.clock.unit ? ` (${run.clock.unit})` : "");

/** The array by which one sees how far the run has come. */
export const lossOf = (run) => run.arrays[run.progress.array];

export const lossWord = (run) => run.progress.word;

/** The same in a sentence: "the excess loss", "the loss (half the squared error)": half an error is not what falls. */
export function theLoss(run) {
  const word = lossWord(run);
  if (/^half /i.test(word)) return `the loss (${word})`;
  return /^(the|an?|mean) /i.test(word) ? word : `the ${word}`;
}

export const lossUnit = (run) => (run.progress.unit ? ` ${run.progress.unit}` : "");

/** What a rung is away: a KL where predictions are probabilities, a squared distance where they are numbers. */
export const rungMeasure = (run) => (/squared error/.test(lossWord(run)) ? "distance" : "KL");

/** Whether two runs have a first chart that one axis can serve. */
export const sameProgress = (a, b) => ["array", "word", "unit"].every((name) => a.progress[name] === b.progress[name]);

/** Names with a part set lower, as in f_{1:2}, for charts, where < and & of somebody's own names stay what they are. */
export function marked(name) {
  const plain = name.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return plain.replace(/_\{(.*?)\}/, "<sub>$1</sub>");
}

/** The same without markup. */
export const unmarked = (name) => name.replace(/_\{(.*?)\}/, " $1");

const LONGEST = 40; // letters of a name beside a chart, where it may take two lines

/** A rung as charts name it: by its number where its own name is a formula. */
export function rungSymbol(run, rung) {
  const name = rungTitle(run, rung);
  return name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
}

/** A rung as sentences name it: by its own name, or by its number where that is a formula. */
export function rungName(run, rung) {
  const name = run.rungNames[rung] ?? `rung ${rung}`;
  if (!name.includes("_{")) return name;
  return rung === run.rungs && rung > 0 ? "the truth" : `rung ${rung}`;
}

/** The time at a rung: "stage 2", with the rung's own name where it has one: "stage 2 (bigram)". */
export function stageName(run, rung) {
  const name = rungName(run, rung);
  return /^rung |^the truth$/.test(name) ? `stage ${rung}` : `stage ${rung} (${name})`;
}

/** The same in tables, where rungs are looked up. */
export const rungTitle = (run, rung) =>
  (run.rungNames[rung] ?? "_{").includes("_{") ? `rung ${rung}` : run.rungNames[rung];

/** What a share of attention lies on: {word, names}. */
export const placesOf = (run) => ({ word: run.place, names: run.groups.map((group) => group.name) });

/** "block", where names are "block 1", "block 2", ..; otherwise what they have in common is that they are groups. */
export function commonWord(names) {
  const stems = new Set(names.map((name) => name.replace(/ \d+$/, "")));
  return stems.size === 1 && names.every((name) => / \d+$/.test(name)) ? [...stems][0] : "group";
}

export const placeName = (places, k) => (typeof places === "string" ? `${places} ${k + 1}` : places.names[k]);
export const placeWord = (places) => (typeof places === "string" ? places : places.word);

/** Whether block k is what rung k adds to the one before: then they share a colour, and heads can be ahead. */
export const blocksAreRungs = (run) => Boolean(run.task?.strengths) && run.groups.length === run.rungs;

export const byLadder = (run) => run.stages_from === "ladder";
export const byLevels = (run) => run.stages_from === "levels";

/** What the second chart can show, by name; the first is what it opens with. */
export function ladderChoices(run) {
  const of = (wanted, choices) => (wanted ? choices : {});
  const measures = run.measures.map(({ array, words }) => [`measure ${array}`, words]);
  return {
    ...of(run.arrays.kl_rungs, { rungs: "rungs" }),
    ...of(run.arrays.kl_references, { references: "n-gram models" }),
    ...of(run.places, { attention: "attention" }),
    ...of(run.places && run.arrays.values, { values: "values" }),
    ...Object.fromEntries(measures),
  };
}

/** The wanted choice where the run has it, otherwise its first; none where it has nothing for a second chart. */
export function ladderFor(run, wanted) {
  const choices = Object.keys(ladderChoices(run));
  return choices.includes(wanted) ? wanted : (choices[0] ?? "");
}

/** The measure behind a choice of the second chart. */
export const measureOf = (run, choice) => run.measures.find(({ array }) => choice === `measure ${array}`);

/** "head 2", "layer 1, head 2" where there are several layers, "layer 1" where each has one head. */
export function headName(run, layer, head) {
  if (run.layers < 2) return `head ${head + 1}`;
  return run.heads < 2 ? `layer ${layer + 1}` : `layer ${layer + 1}, head ${head + 1}`;
}

/** Layers of one head each: a picture a layer says everything, and none of them is the picture of all heads. */
export const oneHeadEach = (run) => run.heads === 1 && run.layers > 1 && run.layers <= 4;

/** A run where its experiment is not named beside it: "B = 8, paper (transformer-law)". */
export const fullName = (run) => (run.section ? `${run.label} (${run.section})` : run.label);

/** What a run is about, as the heading of its view: "minimal, quick: a chain of 3 blocks". */
export const headingOf = (run) => (run.title && run.title !== run.label ? `${fullName(run)}: ${sentence(run.title)}` : fullName(run));

/**
 * Whether a line of the second chart is left out. Toggling reverses what it opens with: of long ladders the uniform
 * prediction, far from all else, would flatten the others.
 */
export const isHidden = (run, { hidden }, key) => (key === "rungs 0" && run.rungs > 2) !== hidden.has(key);
