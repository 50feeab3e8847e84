// The embedded JSON as runs with arrays that can be indexed.
import { commonWord } from "./terms.js";

const MISSING = 255;

/** Numbers with axes: `row(i, j)` is everything behind the leading indices i, j, without a copy. */
export class Grid {
  constructor(values, shape) {
    this.values = values;
    this.shape = shape;
    this.strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1));
  }

  row(...index) {
    const start = index.reduce((sum, i, axis) => sum + i * this.strides[axis], 0);
    const length = index.length ? this.strides[index.length - 1] : this.values.length;
    return this.values.subarray(start, start + length);
  }

  at(...index) {
    return this.row(...index)[0];
  }
}

export function unpack(packed) {
  const bytes = bytesOf(packed.data);
  if (packed.type === "float32") return new Grid(joinedBytes(bytes), packed.shape);
  const values = new Float32Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) values[i] = bytes[i] === MISSING ? NaN : bytes[i] * packed.step;
  return new Grid(values, packed.shape);
}

/** Numbers whose first bytes come first, then their second ones, and so on. */
function joinedBytes(bytes) {
  const count = bytes.length / 4;
  const inOrder = new Uint8Array(bytes.length);
  for (let byte = 0; byte < 4; byte++) {
    for (let i = 0; i < count; i++) inOrder[4 * i + byte] = bytes[byte * count + i];
  }
  return new Float32Array(inOrder.buffer);
}

/** What `pack_text` of payload.py was given, as a response that can be read as text, bytes or a blob. */
export const unzipped = (text) =>
  new Response(new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip")));

export function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** The arrays by name, each unpacked when it is first asked for: of many runs most are never looked at. */
function unpackAll(packed) {
  const grids = {};
  for (const [name, value] of Object.entries(packed)) {
    let grid = null;
    Object.defineProperty(grids, name, { enumerable: true, get: () => (grid ??= unpack(value)) });
  }
  return grids;
}

/** The report that `payload.py` wrote, with its arrays unpacked and its figures taken from their lines. */
export function readReport(text, pictures = "") {
  const report = JSON.parse(text);
  const lines = pictures.split("\n");
  const withFile = (figure) => ({ ...figure, data: lines[figure.data], svg: lines[figure.svg] });
  const figures = report.figures?.map((group) => ({ ...group, figures: group.figures.map(withFile) }));
  return { ...report, figures, runs: report.runs.map(readRun) };
}

function readRun(raw) {
  const arrays = unpackAll(raw.arrays);
  const facts = unpackAll(raw.facts);
  const evaluation = raw.clocks.evaluation ?? [];
  const ownShape = raw.arrays.attention?.shape ?? [];
  // Attention as (seed, time, layer, head, query, key) makes pictures; (seed, time, head, place) is shares already.
  const pictures = ownShape.length === 6 && Boolean(raw.clocks.snapshot?.length);
  const places = ownShape.length === 4;
  // Curves and bars are measured more often than pictures are taken: the slider stops wherever there is either.
  const snapshot = pictures ? raw.clocks.snapshot : [];
  const times = [...new Set([...evaluation, ...snapshot])].sort((a, b) => a - b);
  const byLag = raw.arrays.attention_by_lag?.shape ?? [];
  const withinText = raw.arrays.shown_attention?.shape ?? [];
  const measures = raw.measures ?? [];
  const ofHeads = measures.filter(({ axes }) => axes === "heads").map(({ array }) => raw.arrays[array].shape);
  const widest = [2, 3].map((axis) => Math.max(0, ...ofHeads.map((each) => each[axis])));
  const shape = places ? [0, 0, 1, ownShape[2]] : pictures ? ownShape : byLag.length ? byLag : withinText.length ? withinText : [0, 0, ...widest];
  const groups = raw.groups ?? [];
  const shareTimes = raw.clocks["attention_by_lag "] ?? evaluation;
  const rungNames = raw.rungs ?? [];
  return {
    ...raw,
    arrays,
    facts,
    portraits: (raw.portraits ?? []).map((each) => ({ ...each, arrays: unpackAll(each.arrays) })),
    evaluation,
    pictures,
    places,
    measures,
    groups,
    place: commonWord(groups.map((group) => group.name)),
    shareTimes,
    shareNearest: times.map((step) => nearestIndex(shareTimes, step)),
    attentionStep: raw.arrays.attention?.step ?? 0,
    times,
    nearest: times.map((step) => nearestIndex(evaluation, step)),
    snapshot,
    picture: times.map((step) => nearestIndex(snapshot, step)),
    layers: shape[2] ?? 0,
    heads: shape[3] ?? 0,
    queries: pictures ? ownShape[4] : 0,
    keys: pictures ? ownShape[5] : 0,
    coarse: raw.coarse ?? 1,
    rungNames,
    rungs: Math.max(0, rungNames.length - 1),
    divergedAt: raw.diverged ?? raw.seeds.map(() => -1),
    stoppedAt: raw.stopped ?? raw.seeds.map(() => -1),
  };
}

/** Position of the entry that lies closest to `wanted`. */
export function nearestIndex(steps, wanted) {
  let best = 0;
  for (let i = 1; i < steps.length; i++) {
    if (Math.abs(steps[i] - wanted) < Math.abs(steps[best] - wanted)) best = i;
  }
  return best;
}

export const diverged = (run, seed) => run.divergedAt[seed] >= 0;

/** Position of the picture that a seed shows at a time: the nearest that was taken before the seed ended. */
export function pictureAt(run, seed, time) {
  const ends = [run.stoppedAt[seed], run.divergedAt[seed]].filter((step) => step >= 0);
  const taken = ends.length ? run.snapshot.findLastIndex((step) => step <= Math.min(...ends)) : run.snapshot.length - 1;
  return Math.max(0, Math.min(run.picture[time], taken));
}

/** Whether a seed has learned enough and stopped before this time: from then on its last numbers stand. */
export const stoppedBefore = (run, seed, time) => run.stoppedAt?.[seed] >= 0 && time > run.stoppedAt[seed];

/** The time whose numbers a seed shows: the slider's, or the one at which it stopped. */
export const shownTime = (run, seed, time) => (stoppedBefore(run, seed, time) ? run.stoppedAt[seed] : time);

/** Whether shares of attention on groups of positions are known. */
export const hasShares = (run) =>
  run.heads > 0 &&
  run.shareTimes.length > 0 &&
  run.groups.length > 0 &&
  (run.places || Boolean(run.arrays.attention_by_lag));

/** Share of its attention that each head puts on each block, or on the position of each feature. */
export function blockMasses(run, seed, layer, time) {
  return run.times.length ? evaluationMasses(run, seed, layer, run.shareNearest[time]) : [];
}

/** The same at one of the times at which shares were measured. */
export function evaluationMasses(run, seed, layer, time) {
  if (!hasShares(run)) return [];
  if (run.places) return positionMasses(run, seed, time);
  const grid = run.arrays.attention_by_lag;
  return Array.from({ length: run.heads }, (_, head) => {
    const byLag = grid.row(seed, time, layer, head);
    const mass = (lags) => lags.reduce((sum, lag) => sum + (lag <= byLag.length ? byLag[lag - 1] : 0), 0);
    const lags = run.groups.map((group) => group.lags);
    return { blocks: lags.map(mass), elsewhere: 1 - mass([...new Set(lags.flat())]) };
  });
}

function positionMasses(run, seed, time) {
  return Array.from({ length: run.heads }, (_, head) => {
    const blocks = [...run.arrays.attention.row(seed, time, head)];
    return { blocks, elsewhere: 1 - blocks.reduce((sum, share) => sum + share, 0) };
  });
}

/** The lag between row `query` and column `key` of an attention matrix; below 1 lies the future. */
export const lagOf = (run, query, key) => run.keys - run.queries + query - key + 1;

/** When a measure was taken: with the evaluations, or by a clock of its own. */
export const measureTimes = (run, array) => run.clocks[`${array} `] ?? run.evaluation;
