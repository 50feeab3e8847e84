// Moving through time: by one picture, to a stage, by itself, and from the keyboard.
import { nextStage, showcase, stagesOf } from "./stages.js";

export const SPEEDS = [0.25, 0.5, 1, 2, 4];
const WHOLE_RUN = 12_000; // milliseconds that playing takes from the first picture to the last, at speed 1
const OPENING = 5_000; // and that it takes as the page opens
const SLOWEST = 400;

export function makePlayback(report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  const last = () => Math.max(0, run().times.length - 1);
  let timer = 0;
  const playback = {
    last,
    go(time) {
      selection.set({ time: Math.max(0, Math.min(last(), time)) });
    },
    jump(number) {
      const stage = stagesOf(run(), state.seed).find((each) => each.number === number);
      const time = stage ? showcase(run(), state.seed, stage) : -1;
      if (time >= 0) playback.go(time);
    },
    /** To the showcase of the next stage (1) or of the one before (-1). */
    toStage(direction) {
      const time = nextStage(run(), state.seed, state.time, direction);
      if (time !== null) playback.go(time);
    },
    setSpeed(speed) {
      selection.set({ speed });
      if (state.playing) playback.play(true);
    },
    faster(direction) {
      const place = SPEEDS.indexOf(state.speed) + direction;
      playback.setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, place))]);
    },
    play(wanted, whole = WHOLE_RUN) {
      clearInterval(timer);
      selection.set({ playing: wanted });
      if (!wanted) return;
      if (state.time >= last()) playback.go(0);
      const next = () => {
        if (!state.playing) return clearInterval(timer); // somebody else paused it
        return state.time < last() ? playback.go(state.time + 1) : playback.play(false);
      };
      timer = setInterval(next, Math.min(SLOWEST, whole / (last() + 1)) / state.speed);
    },
  };
  return playback;
}

/** Once, as the page opens, the run passes by; whoever touches anything stops it, and who wants no motion gets none. */
export function playOnce(playback, selection) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden || playback.last() < 2) return;
  const stop = (event) => {
    for (const kind of ["pointerdown", "keydown"]) document.removeEventListener(kind, stop, true);
    const itself = event.key === " " || event.target.closest?.(".play"); // these stop it by what they do anyway
    if (selection.state.playing && !itself) playback.play(false);
  };
  for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, stop, true);
  playback.play(true, OPENING);
}

/** Arrows, space, numbers and letters, unless what has the focus needs them itself. */
export function listenToKeys(playback, selection, slider, compare) {
  const { state } = selection;
  const typing = "select, textarea, [contenteditable], input:not([type=range]):not([type=checkbox])";
  const pressing = "button, summary, a, input[type=checkbox]";
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.(typing)) return;
    const { key } = event;
    if (key === "ArrowRight") playback.go(state.time + 1);
    else if (key === "ArrowLeft") playback.go(state.time - 1);
    else if (key === "Home" && event.target === slider) playback.go(0);
    else if (key === "End" && event.target === slider) playback.go(playback.last());
    else if (key === " " && !event.target.closest?.(pressing)) playback.play(!state.playing);
    else if (/^[1-9]$/.test(key)) playback.jump(Number(key));
    else if (key === "n" || key === "p") playback.toStage(key === "n" ? 1 : -1);
    else if (key === "+" || key === "-") playback.faster(key === "+" ? 1 : -1);
    else if (key === "c") compare();
    else if (key === "Escape" && state.reading) selection.set({ reading: false });
    else if (key === "?") selection.set({ reading: !state.reading });
    else return;
    event.preventDefault();
  });
}
