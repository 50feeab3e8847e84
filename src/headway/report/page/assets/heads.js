// One picture a head, layer by layer, with the block it looks at most.
import { captioned } from "./caption.js";
import { paletteOf, readTheme } from "./colour.js";
import { blockMasses } from "./data.js";
import { drawToWidth, element } from "./dom.js";
import { makeMatrix } from "./matrix.js";
import {
  allHeads,
  blendedImage,
  chip,
  followPointer,
  pictureCaption,
  pictureName,
  pictureStep,
  shownLayers,
  takenWords,
} from "./pictures.js";
import { fileName, saving } from "./saving.js";
import { headName, oneHeadEach, placeName, placesOf, when } from "./terms.js";
import { percent, sentence } from "./words.js";

/** "most on block 2: 81 %". */
function mostWords(places, masses) {
  const known = (masses?.blocks ?? []).filter(Number.isFinite);
  if (!known.length) return "";
  const most = Math.max(...known);
  return `most on ${placeName(places, masses.blocks.indexOf(most))}: ${percent(most)}`;
}

/** `home` is the grid around the heads' pictures. */
export function mountHeads(host, report, selection, home) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  let views = [];

  /** The state as a layer of its own sees it. */
  const inLayer = (layer) => ({ ...state, layer });
  const draw = () => {
    const palette = paletteOf(run());
    const places = placesOf(run());
    const shares = new Map();
    for (const { layer, head, matrix, words, taken } of views) {
      if (!shares.has(layer)) shares.set(layer, blockMasses(run(), state.seed, layer, state.time));
      matrix.draw(run(), blendedImage(run(), inLayer(layer), palette, [head]), palette, readTheme());
      words.textContent = mostWords(places, shares.get(layer)[head]);
      taken.textContent = takenWords(run(), state);
      const place = when(run(), pictureStep(run(), state));
      const label = `Attention of ${headName(run(), layer, head)} at ${place}; ${words.textContent}`;
      matrix.canvas.setAttribute("aria-label", label);
    }
  };
  const fit = () => {
    const width = views[0]?.frame.clientWidth;
    if (!width) return;
    for (const { matrix } of views) matrix.resize(run(), width);
    draw();
  };
  const makeView = (layer, head) => {
    const matrix = makeMatrix();
    const words = element("span", { class: "quiet" });
    const taken = element("small", { class: "quiet taken" }); // below, where it moves nothing while playing
    const frame = element("div", { class: "frame" }, matrix.canvas);
    const title = headName(run(), layer, head);
    const name = () => fileName(pictureName(run(), state), run().layers > 1 ? `layer ${layer + 1}` : "", "head", head + 1);
    const drawing = () => captioned(matrix.file(), pictureCaption(run(), inLayer(layer), paletteOf(run()), [head]));
    const files = saving(title, name, null, drawing);
    const mark = oneHeadEach(run()) ? null : chip(head, paletteOf(run()));
    const caption = element("figcaption", {}, mark, `${sentence(title)} `, words);
    // The pointer asks when it moves, and the slider may have moved by then.
    const seen = new Proxy(state, { get: (all, key) => (key === "layer" ? layer : all[key]) });
    followPointer(matrix, run, seen, () => [head]);
    const figure = element("figure", { class: "head" }, caption, frame, files, taken);
    return { layer, head, matrix, words, taken, frame, figure };
  };
  const build = () => {
    host.hidden = !run().pictures;
    const layers = host.hidden ? [] : shownLayers(run(), state);
    views = layers.flatMap((layer) => allHeads(run()).map((head) => makeView(layer, head)));
    host.replaceChildren(...views.map((view) => view.figure));
    fit();
  };

  build();
  drawToWidth(home, fit, selection); // the host itself only passes its figures on to the grid around it
  drawToWidth(host, fit, selection); // unless it stands beside the charts
  selection.watch((_, changed) => {
    const another = changed.has("layer") && shownLayers(run(), state).length < run().layers;
    changed.has("run") || changed.has("theme") || another ? build() : draw();
  });
}
