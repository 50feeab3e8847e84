// pixel = paper + sum of strengths * (ink - paper); past a sum of 1 what heads share moves on towards the extreme. The
// ink is the colour of a head that has two thirds of the sum, and without hue where none has more than half.
// On white paper this is the rule of colours.py; on dark paper the same rule with light and dark exchanged.

export function parse(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

export const css = (rgb) => `rgb(${rgb.map(Math.round).join(" ")})`;

export const mix = (from, to, share) => from.map((value, channel) => value + share * (to[channel] - value));

/** Relative luminance as screens and contrast rules define it. */
function luminance(rgb) {
  const [r, g, b] = rgb.map((value) => (value <= 10 ? value / 3295 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** The colour itself, or as little of `ink` mixed in as it takes to be seen on `paper`. */
export function visible(rgb, paper, ink, wanted) {
  let share = 0;
  while (contrast(mix(rgb, ink, share), paper) < wanted && share < 1) share += 0.05;
  return mix(rgb, ink, Math.min(share, 1));
}

let theme = null;
let palettes = new WeakMap();

/** Light and dark were exchanged: read the style sheet again when next asked. */
export function forgetTheme() {
  theme = null;
  palettes = new WeakMap();
}

/**
 * What the canvas and the charts need to know of the style sheet, which alone decides between light and dark.
 * Kept, because asking for computed styles in every frame of a drag would cost more than the drawing.
 */
export function readTheme() {
  if (theme) return theme;
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  theme = {
    paper: value("--paper"),
    canvas: value("--canvas"),
    ink: value("--ink"),
    muted: value("--muted"),
    rule: value("--rule"),
    link: value("--link"),
    second: value("--second"),
    font: getComputedStyle(document.body).fontFamily,
    extreme: luminance(parse(value("--paper"))) > 0.5 ? [0, 0, 0] : [255, 255, 255],
  };
  return theme;
}

/** The run's colours, made visible on the paper of the day. */
export function paletteOf(run) {
  if (!palettes.has(run)) palettes.set(run, makePalette(run, readTheme()));
  return palettes.get(run);
}

function makePalette(run, { canvas, extreme }) {
  const paper = parse(canvas);
  const onPaper = (wanted) => (colour) => visible(parse(colour), paper, extreme, wanted);
  return {
    heads: run.colours.heads.map(onPaper(1.5)),
    rungs: run.colours.rungs.map(onPaper(3)).map(css),
    references: run.colours.references.map(onPaper(3)).map(css),
    // The same colours where they are letters, which need more contrast than lines.
    groups: run.colours.groups.map(onPaper(3)).map(css),
    groupWords: run.colours.groups.map(onPaper(4.5)).map(css),
    lines: run.colours.lines.map(onPaper(3)).map(css), // that are neither heads nor rungs
    rungWords: run.colours.rungs.map(onPaper(4.5)).map(css),
    referenceWords: run.colours.references.map(onPaper(4.5)).map(css),
    several: parse(run.colours.several).map((value) => (extreme[0] ? 255 - value : value)),
    full: run.colours.full,
    paper,
    extreme,
  };
}

/** Write the blend of a cell to pixels[at..at+3]; `strengths` has a number from 0 to 1 for each head. */
export function blendInto(pixels, at, strengths, palette) {
  let total = 0;
  let first = 0;
  for (let head = 0; head < strengths.length; head++) {
    total += strengths[head];
    if (strengths[head] > strengths[first]) first = head;
  }
  const lead = total > 0 ? Math.min(1, Math.max(0, (6 * strengths[first]) / total - 3)) : 0;
  const ends = total > 1 ? palette.extreme : palette.paper;
  const share = total > 1 ? total ** ((lead - 1) / 2) : total;
  for (let channel = 0; channel < 3; channel++) {
    const ink = palette.several[channel] + lead * (palette.heads[first][channel] - palette.several[channel]);
    pixels[at + channel] = ends[channel] + share * (ink - ends[channel]);
  }
  pixels[at + 3] = 255;
}
