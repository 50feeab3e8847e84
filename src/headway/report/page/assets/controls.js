// The bar with the slider: what is shown, and when. Everything here only changes the selection.
import { diverged } from "./data.js";
import { element } from "./dom.js";
import { showcase, stagesOf } from "./stages.js";
import { whole } from "./words.js";

const WHOLE_RUN = 12_000; // milliseconds that playing takes from the first picture to the last
const SLOWEST = 400;

export function mountControls(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  const last = () => Math.max(0, run().times.length - 1);
  const go = (time) => selection.set({ time: Math.max(0, Math.min(last(), time)) });

  const slider = element("input", { type: "range", id: "time", min: 0, step: 1, "aria-label": "Training step", oninput: () => go(Number(slider.value)) });
  const stepWords = element("output", { for: "time", class: "step" });
  const playButton = element("button", { type: "button", class: "play", onclick: () => play(!state.playing) });
  const stageButtons = element("span", { class: "stage-buttons", role: "group", "aria-label": "Jump to a stage" });
  const ticks = element("div", { class: "ticks", "aria-hidden": "true" });

  const chooser = (id, label, name) => {
    const select = element("select", { id, onchange: () => choose({ [name]: Number(select.value) }) });
    return { select, whole: element("label", { class: "choice", for: id }, label, select) };
  };
  const runs = chooser("run", "run", "run");
  const seeds = chooser("seed", "seed", "seed");
  const layers = chooser("layer", "layer", "layer");
  const linear = (id, label, name) => {
    const box = element("input", { type: "checkbox", id, onchange: () => selection.set({ [name]: box.checked }) });
    box.checked = state[name];
    return element("label", { class: "choice", for: id }, box, label);
  };
  const ladder = element("select", { id: "ladder", onchange: () => selection.set({ ladder: ladder.value }) },
    element("option", { value: "rungs" }, "rungs"), element("option", { value: "references" }, "n-gram models"));
  const ladderChoice = element("label", { class: "choice", for: "ladder" }, "KL from", ladder);

  /** Another run has other seeds and other times: keep the choice where it exists, and the step as near as can be. */
  const choose = (changes) => {
    const step = run().times[state.time] ?? 0;
    const next = report.runs[changes.run ?? state.run];
    const seed = Math.min(changes.seed ?? state.seed, next.seeds.length - 1);
    const layer = Math.min(changes.layer ?? state.layer, Math.max(0, next.layers - 1));
    const later = next.times.findIndex((time) => time >= step);
    const known = state.ladder === "references" && !next.arrays.kl_references ? "rungs" : state.ladder;
    selection.set({ ...changes, seed, layer, ladder: known, time: later < 0 ? Math.max(0, next.times.length - 1) : later });
  };

  host.append(
    element("div", { class: "transport" }, playButton, element("div", { class: "track" }, slider, ticks), stepWords),
    element("div", { class: "choices" }, runs.whole, seeds.whole, layers.whole, stageButtons, ladderChoice,
      linear("log-time", "log time", "logTime"), linear("log-value", "log values", "logValue")),
  );

  const jump = (number) => {
    const time = showcase(run(), state.seed, number);
    if (time !== null && time >= 0) go(time);
  };

  let timer = 0;
  const play = (wanted) => {
    clearInterval(timer);
    if (wanted && state.time >= last()) go(0);
    if (wanted) timer = setInterval(() => (state.time < last() ? go(state.time + 1) : play(false)), Math.min(SLOWEST, WHOLE_RUN / (last() + 1)));
    selection.set({ playing: wanted });
  };

  const options = (select, words, chosen) => {
    select.replaceChildren(...words.map((text, value) => element("option", { value }, text)));
    select.value = String(chosen);
  };
  const showChoices = () => {
    options(runs.select, report.runs.map((each) => each.label), state.run);
    options(seeds.select, run().seeds.map((seed, i) => (diverged(run(), i) ? `${seed} (diverged at ${whole(run().divergedAt[i])})` : `${seed}`)), state.seed);
    options(layers.select, Array.from({ length: run().layers }, (_, layer) => `${layer + 1}`), state.layer);
    runs.whole.hidden = report.runs.length < 2;
    layers.whole.hidden = run().layers < 2;
    ladderChoice.hidden = !run().arrays.kl_references;
    ladder.value = state.ladder;
    const stages = stagesOf(run(), state.seed);
    stageButtons.replaceChildren(...(stages.length ? ["stage"] : []), ...stages.map((stage) =>
      element("button", { type: "button", title: `Jump to stage ${stage.number} (key ${stage.number})`, onclick: () => jump(stage.number) }, `${stage.number}`)));
    slider.max = last();
    // Marks under the slider where this seed changed stage, in the slider's own (picture by picture) scale.
    ticks.replaceChildren(...stages.slice(1).map((stage) => {
      const after = run().times.findIndex((step) => step >= stage.from);
      return after < 1 ? null : element("i", { style: { left: `${(100 * (after - 0.5)) / Math.max(1, last())}%` } });
    }).filter(Boolean));
  };
  const showTime = () => {
    const step = run().times[state.time];
    slider.value = state.time;
    slider.disabled = last() === 0;
    const text = step === undefined ? "no steps" : `step ${whole(step)}`;
    slider.setAttribute("aria-valuetext", text);
    stepWords.textContent = text;
    playButton.textContent = state.playing ? "❚❚" : "►";
    playButton.setAttribute("aria-label", state.playing ? "Pause" : "Play");
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = event.target;
    if (at.closest?.("select, textarea, [contenteditable], input:not([type=range]):not([type=checkbox])")) return;
    const pressing = at.closest?.("button, summary, a, input[type=checkbox]");
    if (event.key === " " && pressing) return; // the space bar belongs to what has the focus
    const moves = { ArrowRight: state.time + 1, ArrowLeft: state.time - 1, Home: 0, End: last() };
    // Home and End scroll the page unless the slider has the focus.
    if (event.key in moves && (event.key.startsWith("Arrow") || at === slider)) go(moves[event.key]);
    else if (event.key === " ") play(!state.playing);
    else if (/^[1-9]$/.test(event.key)) jump(Number(event.key));
    else return;
    event.preventDefault();
  });

  showChoices();
  showTime();
  selection.watch((_, changed) => {
    if (changed.has("run") || changed.has("seed") || changed.has("ladder")) showChoices();
    showTime();
  });
}
