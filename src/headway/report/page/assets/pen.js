// A canvas's pen that writes SVG: what draws a matrix on the screen draws it into a file, too.
import { drawn } from "./dom.js";

const BASELINES = { top: "0.8em", middle: "0.35em", alphabetic: "0" };
const ANCHORS = { left: "start", center: "middle", right: "end" };

/** Only the part of a canvas's context that `matrix.js` uses. */
export class Pen {
  nodes = [];
  points = [];
  transforms = [];
  depths = [];

  save() {
    this.depths.push(this.transforms.length);
  }
  restore() {
    this.transforms.length = this.depths.pop() ?? 0;
  }
  translate(x, y) {
    this.transforms.push(`translate(${x} ${y})`);
  }
  rotate(angle) {
    this.transforms.push(`rotate(${(angle * 180) / Math.PI})`);
  }
  beginPath() {
    this.points = [];
  }
  lineTo(x, y) {
    this.points.push(`${x.toFixed(2)} ${y.toFixed(2)}`);
  }
  closePath() {
    this.points.push("Z");
  }
  stroke() {
    const d = `M ${this.points.join(" L ").replace(" L Z", " Z")}`;
    this.add("path", { d, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth });
  }
  strokeRect(x, y, width, height) {
    this.add("rect", { x, y, width, height, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth });
  }
  fillRect(x, y, width, height) {
    this.add("rect", { x, y, width, height, fill: this.fillStyle });
  }
  fillText(text, x, y) {
    const [, weight, size, family] = this.font.match(/^(?:(\d+) )?([\d.]+px) (.*)$/);
    const look = { "font-size": size, "font-family": family, "font-weight": weight ?? "400" };
    const place = { x, y, dy: BASELINES[this.textBaseline], "text-anchor": ANCHORS[this.textAlign] };
    this.add("text", { ...place, ...look, fill: this.fillStyle }, text);
  }
  add(tag, attributes, ...children) {
    const transform = this.transforms.length ? this.transforms.join(" ") : null;
    this.nodes.push(drawn(tag, { ...attributes, transform }, ...children));
  }
}

/** A picture's pixels as rectangles on the layout's cells, neighbours of one colour in one piece; paper is left out. */
export function drawPixels(pen, image, { left, top, cell, rise }, keys, paper) {
  const { width, height, data } = image;
  const across = (cell * keys) / width;
  const colourAt = (x, y) => [0, 1, 2].map((channel) => data[4 * (y * width + x) + channel]).join(" ");
  const ground = paper.map(Math.round).join(" ");
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; ) {
      const colour = colourAt(x, y);
      let end = x + 1;
      while (end < width && colourAt(end, y) === colour) end++;
      pen.fillStyle = `rgb(${colour.replaceAll(" ", ",")})`;
      if (colour !== ground) pen.fillRect(left + x * across, top + y * rise, (end - x) * across, rise);
      x = end;
    }
  }
}
