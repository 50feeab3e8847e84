// All heads in one picture; the key takes a head out of it, or puts the heads side by side in each cell.
import { captioned } from "./caption.js";
import { css, paletteOf, readTheme } from "./colour.js";
import { drawToWidth, element } from "./dom.js";
import { makeMatrix } from "./matrix.js";
import { matrixTable } from "./numbers.js";
import {
  allHeads,
  blendedImage,
  chip,
  followPointer,
  pictureCaption,
  pictureName,
  pictureStep,
  sideBySide,
  stripedImage,
  takenWords,
  WIDEST_PICTURE,
} from "./pictures.js";
import { fileName, saving } from "./saving.js";
import { oneHeadEach, when } from "./terms.js";
import { number } from "./words.js";

/** A ramp from paper to the full colour of each head. */
function ramps(palette) {
  const ramp = (colour) => `linear-gradient(to right, ${css(palette.paper)}, ${css(colour)})`;
  return palette.heads.map((colour) =>
    element("span", { class: "ramp", style: { background: ramp(colour) } }),
  );
}

export function mountCombined(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  const shown = () => allHeads(run()).filter((head) => !state.muted.has(head));
  const matrix = makeMatrix();
  const key = element("div", { class: "legend" });
  const frame = element("div", { class: "frame" }, matrix.canvas);
  const scale = element("p", { class: "quiet scale" });
  const sharing = "Several: more than one head attends there. The smaller the share of the leading head, the darker its colour, and black where it has no more than half.";
  const shared = element("p", { class: "quiet" }, sharing);
  const taken = element("span", { class: "quiet" });
  const title = element("span");
  const name = () => fileName(pictureName(run(), state), "attention");
  const drawing = () => captioned(matrix.file(), pictureCaption(run(), state, paletteOf(run()), shown()));
  const files = saving("all heads", name, () => matrixTable(run(), state), drawing);
  host.append(element("h3", {}, title, taken, files), key, frame, scale, shared);
  followPointer(matrix, run, state, shown);

  const toggle = (head) => {
    const muted = new Set(state.muted);
    muted.has(head) ? muted.delete(head) : muted.add(head);
    selection.set({ muted });
  };
  const button = (pressed, press, name, ...content) => {
    const attributes = { type: "button", class: "key", "aria-label": name, "aria-pressed": String(pressed), onclick: press };
    return element("button", attributes, ...content);
  };
  const drawKey = () => {
    const palette = paletteOf(run());
    const focused = [...key.children].indexOf(document.activeElement);
    const heads = allHeads(run()).map((head) =>
      button(!state.muted.has(head), () => toggle(head), `head ${head + 1}`, chip(head, palette), element("span", { class: "key-word" }, `head ${head + 1}`)),
    );
    const stripes = () => selection.set({ stripes: !sideBySide(run(), state) });
    const several = element("span", { class: "several quiet", hidden: sideBySide(run(), state), title: sharing }, chip(null, palette), "several");
    key.replaceChildren(...heads, several, button(sideBySide(run(), state), stripes, null, "side by side in each cell"));
    key.children[focused]?.focus(); // the pressed button was replaced by its new self
    const most = ` ${number(palette.full)} and more`;
    scale.replaceChildren("attention, mean over test sequences: 0 ", element("span", { class: "ramps" }, ramps(palette)), most);
    shared.hidden = sideBySide(run(), state) || run().heads < 2;
    key.hidden = run().heads < 2; // one head needs no key
    key.classList.toggle("many", run().heads > 4);
    title.textContent = run().heads < 2 ? "Attention of the head " : "All heads in one picture ";
  };
  const draw = () => {
    if (host.hidden) return;
    const palette = paletteOf(run());
    const image = sideBySide(run(), state) && shown().length ? stripedImage : blendedImage;
    matrix.draw(run(), image(run(), state, palette, shown()), palette, readTheme());
    const [seed, step] = [run().seeds[state.seed], pictureStep(run(), state)];
    const layer = run().layers > 1 ? `layer ${state.layer + 1}` : "";
    taken.textContent = [layer, takenWords(run(), state)].filter(Boolean).join(", ");
    matrix.canvas.setAttribute("aria-label", `Attention of all heads of seed ${seed}${layer ? `, ${layer}` : ""} at ${when(run(), step)}`);
  };
  const fit = () => {
    host.hidden = !run().pictures || oneHeadEach(run());
    if (!frame.clientWidth) return;
    matrix.resize(run(), Math.min(frame.clientWidth, WIDEST_PICTURE));
    draw();
  };

  fit();
  drawKey();
  drawToWidth(frame, fit, selection);
  selection.watch((_, changed) => {
    if (changed.has("run")) fit();
    else draw();
    if (["run", "muted", "stripes", "theme"].some((name) => changed.has(name))) drawKey();
  });
}
