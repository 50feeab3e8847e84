// Moving through time: by one picture, to a stage, by itself, and from the keyboard.
import { showcase } from "./stages.js";

const WHOLE_RUN = 12_000; // milliseconds that playing takes from the first picture to the last
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
    jump(stage) {
      const time = showcase(run(), state.seed, stage);
      if (time !== null && time >= 0) playback.go(time);
    },
    play(wanted) {
      clearInterval(timer);
      selection.set({ playing: wanted });
      if (!wanted) return;
      if (state.time >= last()) playback.go(0);
      const next = () => (state.time < last() ? playback.go(state.time + 1) : playback.play(false));
      timer = setInterval(next, Math.min(SLOWEST, WHOLE_RUN / (last() + 1)));
    },
  };
  return playback;
}

/** Arrows, space and numbers, unless what has the focus needs them itself. */
export function listenToKeys(playback, selection, slider) {
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
    else return;
    event.preventDefault();
  });
}
