// The state in the address: #run=minimal&seed=3&step=422 shows the same view to whoever gets the link.
import { nearestIndex } from "./data.js";
import { ladderFor } from "./terms.js";

const QUIET = 250; // milliseconds without a change, after which the address is written

/** A run by its label, or by its number where several have that label. */
const nameOfRun = (runs, index) =>
  runs.filter(({ label }) => label === runs[index].label).length > 1 ? `${index}` : runs[index].label;

function runNamed(runs, name) {
  const index = runs.findIndex(({ label }) => label === name);
  return index >= 0 ? index : /^\d+$/.test(name ?? "") && Number(name) < runs.length ? Number(name) : -1;
}

const numbers = (set) => [...set].sort((a, b) => a - b).map((each) => each + 1).join(".");
const setOf = (text) => new Set((text ?? "").split(".").filter((each) => /^\d+$/.test(each)).map((each) => Number(each) - 1));

/** What of the state differs from how the page opens, as the text behind #. */
export function written(report, state, usual) {
  const run = report.runs[state.run];
  const words = new URLSearchParams();
  const differs = (name) => state[name] !== usual[name];
  if (differs("run")) words.set("run", nameOfRun(report.runs, state.run));
  if (differs("seed")) words.set("seed", `${run.seeds[state.seed]}`);
  if (differs("layer")) words.set("layer", `${state.layer + 1}`);
  if (state.time < run.times.length - 1) words.set(run.clock.word, `${run.times[state.time]}`);
  if (state.ladder !== ladderFor(run, "")) words.set("curves", state.ladder);
  for (const name of ["logTime", "logValue", "stripes", "over", "reading"])
    if (differs(name)) words.set(name, state[name] ? "yes" : "no");
  if (state.muted.size) words.set("muted", numbers(state.muted));
  if (state.left.size) words.set("left", numbers(state.left));
  if (state.hidden.size) words.set("hidden", [...state.hidden].join("."));
  if (state.other >= 0) {
    words.set("beside", nameOfRun(report.runs, state.other));
    words.set("besideSeed", `${report.runs[state.other].seeds[state.otherSeed]}`);
    words.set("by", state.align);
  }
  return words.toString();
}

/** The state that an address asks for; what it does not know, or the report does not have, is as usual. */
export function read(report, text, usual) {
  const words = new URLSearchParams(text.replace(/^#/, ""));
  const chosen = runNamed(report.runs, words.get("run"));
  const index = chosen >= 0 ? chosen : usual.run;
  const run = report.runs[index];
  const placed = (list, name, otherwise) => Math.max(otherwise, list.findIndex((each) => `${each}` === words.get(name)));
  const switched = (name) => (words.has(name) ? words.get(name) === "yes" : usual[name]);
  const step = Number(words.get(run.clock.word) ?? NaN);
  const other = words.has("beside") ? runNamed(report.runs, words.get("beside")) : -1;
  const layer = Number(words.get("layer") ?? 1) - 1;
  return {
    run: index,
    seed: placed(run.seeds, "seed", 0),
    layer: layer > 0 && layer < run.layers ? Math.floor(layer) : 0,
    time: Number.isFinite(step) ? nearestIndex(run.times, step) : Math.max(0, run.times.length - 1),
    ladder: ladderFor(run, words.get("curves") ?? ""),
    curves: words.get("curves") ?? "",
    logTime: switched("logTime"),
    logValue: switched("logValue"),
    stripes: switched("stripes"),
    over: switched("over"),
    reading: switched("reading"),
    muted: setOf(words.get("muted")),
    left: setOf(words.get("left")),
    hidden: new Set((words.get("hidden") ?? "").split(".").filter(Boolean)),
    other,
    otherSeed: other >= 0 ? placed(report.runs[other].seeds, "besideSeed", 0) : 0,
    align: words.get("by") ?? usual.align,
    playing: false,
  };
}

/** Whether an address holds a state, and is no link to a part of the page. */
export const holdsState = (hash) => hash.includes("=");

/** Write the address a moment after the last change, never while it plays; follow one that somebody typed. */
export function mountAddress(report, selection, usual) {
  let timer = 0;
  const write = () => {
    if (selection.state.playing) return;
    const text = written(report, selection.state, usual);
    if (!text && !holdsState(location.hash)) return; // a link to a part of the page stays
    try {
      history.replaceState(history.state, "", text ? `#${text}` : location.pathname + location.search);
    } catch {
      // A page inside another document may have no address of its own.
    }
  };
  selection.watch(() => {
    clearTimeout(timer);
    timer = setTimeout(write, QUIET);
  });
  window.addEventListener("hashchange", () => {
    if (holdsState(location.hash)) selection.set(read(report, location.hash, usual));
  });
}
