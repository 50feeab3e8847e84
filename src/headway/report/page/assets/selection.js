// What is chosen now: run, seed, layer, time, axes. One place, so that every view follows the same slider.

/**
 * `set` merges changes; watchers hear of them once a frame, with the names of what changed.
 * A slider fires far more often than the screen refreshes: answering every event would drop frames.
 */
export function makeSelection(initial) {
  const state = { ...initial };
  const watchers = [];
  let changed = null;
  const tell = () => {
    const names = changed;
    if (!names) return; // notified already
    changed = null;
    for (const watcher of watchers) watcher(state, names);
  };
  return {
    state,
    watch(watcher) {
      watchers.push(watcher);
    },
    set(changes) {
      const names = Object.keys(changes).filter((name) => changes[name] !== state[name]);
      if (!names.length) return;
      Object.assign(state, changes);
      if (!changed) {
        changed = new Set();
        requestAnimationFrame(tell);
      }
      for (const name of names) changed.add(name);
    },
    /** Notify at once, for a selection that follows another one and should be drawn in the same frame. */
    flush: tell,
  };
}
