// The bar with the slider: what is shown, and when. Everything here only changes the selection.
import { runOptions } from "./choices.js";
import { comparisonChoices } from "./compare.js";
import { diverged } from "./data.js";
import { drawn, element } from "./dom.js";
import { clockWord, ladderChoices, ladderFor, when } from "./terms.js";
import { listenToKeys, makePlayback, SPEEDS } from "./playback.js";
import { logarithmicValues } from "./settling.js";
import { showcaseWords, stagesOf } from "./stages.js";
import { whole } from "./words.js";

const playIcon = () =>
  drawn(
    "svg",
    { viewBox: "0 0 20 20", width: 20, height: 20, "aria-hidden": "true" },
    drawn("path", { class: "go", d: "M6 3.5 L16.5 10 L6 16.5 Z" }),
    drawn("path", { class: "halt", d: "M5 4h3.6v12H5z M11.4 4H15v12h-3.6z" }),
  );

/** Three lines: more to choose from. */
const moreIcon = () =>
  drawn(
    "svg",
    { viewBox: "0 0 20 20", width: 20, height: 20, "aria-hidden": "true" },
    drawn("path", { d: "M3 4.4h14v1.8H3z M3 9.1h14v1.8H3z M3 13.8h14v1.8H3z" }),
  );

function fill(select, words, chosen) {
  select.replaceChildren(...words.map((text, value) => element("option", { value }, text)));
  select.value = String(chosen);
}

/** Another run has other seeds and times: keep what it has, and the step as near as can be. */
function carriedOver(report, state, changes) {
  const step = report.runs[state.run].times[state.time] ?? 0;
  const run = report.runs[changes.run ?? state.run];
  const later = run.times.findIndex((time) => time >= step);
  return {
    ...changes,
    seed: Math.min(changes.seed ?? state.seed, run.seeds.length - 1),
    layer: Math.min(changes.layer ?? state.layer, Math.max(0, run.layers - 1)),
    ladder: ladderFor(run, state.curves),
    left: changes.run === undefined ? state.left : new Set(),
    time: later < 0 ? Math.max(0, run.times.length - 1) : later,
  };
}

export function mountControls(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  const playback = makePlayback(report, selection);

  const toggle = { type: "button", class: "play", onclick: () => playback.play(!state.playing) };
  const playButton = element("button", toggle, playIcon());
  const range = { type: "range", id: "time", min: 0, step: 1, "aria-label": "Training step" };
  const slider = element("input", { ...range, oninput: () => playback.go(Number(slider.value)) });
  const stepWords = element("output", { for: "time", class: "step" });
  const ticks = element("div", { class: "ticks", "aria-hidden": "true" });
  const stages = element("span", { class: "stage-buttons", role: "group", "aria-label": "Jump to a stage" });

  const chooser = (name) => {
    const choose = () => selection.set(carriedOver(report, state, { [name]: Number(select.value) }));
    const select = element("select", { id: name, onchange: choose });
    return { select, label: element("label", { class: "choice", for: name }, name, select) };
  };
  const [runs, seeds, layers] = ["run", "seed", "layer"].map(chooser);
  const chooseLadder = () => selection.set({ ladder: ladder.value, curves: ladder.value });
  const ladder = element("select", { id: "ladder", onchange: chooseLadder });
  const ladderLabel = element("label", { class: "choice", for: "ladder" }, "curves of", ladder);
  const checkbox = (id, label, name) => {
    const change = () => selection.set({ [name]: box.checked });
    const box = element("input", { type: "checkbox", id, onchange: change });
    return { box, name, label: element("label", { class: "choice", for: id }, box, label) };
  };

  const chooseSpeed = () => playback.setSpeed(Number(speed.value));
  const speeds = SPEEDS.map((value) => element("option", { value }, `${value} ×`));
  const speed = element("select", { id: "speed", onchange: chooseSpeed }, speeds);
  const speedLabel = element("label", { class: "choice", for: "speed" }, "speed", speed);
  const comparison = comparisonChoices(report, selection);
  const track = element("div", { class: "track" }, slider, ticks);
  const axes = [checkbox("log-time", "log time", "logTime"), checkbox("log-value", "log values", "logValue")];
  const read = () => selection.set({ reading: !state.reading });
  const reading = { type: "button", id: "read", "aria-controls": "reading", title: "An explanation with a drawing, beside the view (key ?)", onclick: read };
  const readButton = element("button", reading, "how to read this");
  // On a phone the choices are folded, so that the curve and the picture fit the first screen.
  const choose = () => chooseButton.setAttribute("aria-expanded", String(host.classList.toggle("choosing")));
  const folding = { type: "button", class: "choose", "aria-label": "Controls", title: "Seed, stage, axes, compare, how to read this", "aria-expanded": "false", onclick: choose };
  const chooseButton = element("button", folding, moreIcon());
  const labels = [
    runs.label,
    seeds.label,
    layers.label,
    stages,
    speedLabel,
    ladderLabel,
    ...axes.map((axis) => axis.label),
    comparison.host,
    readButton,
  ];
  host.append(
    element("div", { class: "transport" }, playButton, track, stepWords, chooseButton),
    element("div", { class: "choices" }, ...labels),
  );

  const showStages = () => {
    const known = stagesOf(run(), state.seed);
    const button = (stage) => {
      const { number } = stage;
      const title = `Jump to the ${clockWord(run())} where ${showcaseWords(run(), stage)} (key ${number})`;
      return element("button", { type: "button", title, onclick: () => playback.jump(number) }, `${number}`);
    };
    const step = (direction, sign, title) => {
      const go = () => playback.toStage(direction);
      return element("button", { type: "button", title, "aria-label": title, onclick: go }, sign);
    };
    const back = step(-1, "‹", "Previous stage (key p)");
    const on = step(1, "›", "Next stage (key n)");
    stages.hidden = !known.length;
    stages.replaceChildren(...(known.length ? ["stage", back, ...known.map(button), on] : []));
    // Marks under the slider where this seed entered a stage, in the slider's own scale of one picture a step.
    const places = known.map(({ number, from }) => ({ number, from, place: run().times.findIndex((step) => step >= from) - 0.5 }));
    const mark = ({ number, from, place }) => {
      const title = `stage ${number} begins at ${when(run(), from)}`;
      return element("i", { title, style: { left: `${(100 * place) / Math.max(1, playback.last())}%` } });
    };
    ticks.replaceChildren(...places.filter(({ place }) => place > 0).map(mark));
  };
  const showChoices = () => {
    const seedWords = (seed, i) =>
      diverged(run(), i) ? `${seed} (diverged at ${whole(run().divergedAt[i])})` : `${seed}`;
    const layerWords = Array.from({ length: run().layers }, (_, layer) => `${layer + 1}`);
    runs.select.replaceChildren(...runOptions(report.runs));
    runs.select.value = String(state.run);
    fill(seeds.select, run().seeds.map(seedWords), state.seed);
    fill(layers.select, layerWords, state.layer);
    runs.label.hidden = report.runs.length < 2;
    layers.label.hidden = run().layers < 2;
    const choices = Object.entries(ladderChoices(run()));
    ladder.replaceChildren(...choices.map(([value, words]) => element("option", { value }, words)));
    ladderLabel.hidden = choices.length < 2;
    ladder.value = state.ladder;
    slider.max = playback.last();
    slider.disabled = playback.last() === 0;
    showStages();
  };
  const showState = () => {
    const step = run().times[state.time];
    const text = step === undefined ? "no steps" : when(run(), step);
    slider.value = state.time;
    slider.setAttribute("aria-valuetext", text);
    stepWords.textContent = text;
    speed.value = String(state.speed);
    for (const { box, name } of axes) box.checked = name === "logValue" ? logarithmicValues([run()], state) : state[name];
    readButton.setAttribute("aria-expanded", String(state.reading));
    playButton.dataset.playing = state.playing;
    playButton.setAttribute("aria-label", state.playing ? "Pause" : "Play");
  };

  listenToKeys(playback, selection, slider, comparison.toggle);
  showChoices();
  showState();
  selection.watch((_, changed) => {
    if (["run", "seed", "ladder"].some((name) => changed.has(name))) showChoices();
    showState();
  });
  return playback;
}
