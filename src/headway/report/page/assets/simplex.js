// point = sum over blocks of share * corner / max(1, sum of shares), with the corners around the origin.
// A head that looks at one block only stands in that block's corner; attention elsewhere pulls it to the middle.

/** A corner for each block: one on a line, two at its ends, three or more around a circle, the first on top. */
export function corners(count) {
  if (count < 3) return [[-1, 0], [1, 0]].slice(0, count);
  return Array.from({ length: count }, (_, block) => {
    const angle = (2 * Math.PI * block) / count - Math.PI / 2;
    return [Math.cos(angle), Math.sin(angle)];
  });
}

/** Where a head with these shares stands; [NaN, NaN] if one of them is not there. */
export function pointOf(shares, places) {
  // A lag may belong to two blocks, so that shares can add up to more than one.
  const whole = Math.max(1, shares.reduce((sum, share) => sum + share, 0));
  return [0, 1].map((axis) => shares.reduce((sum, share, block) => sum + share * places[block][axis], 0) / whole);
}

/** How far the corners reach: {left, right, top, bottom}. */
export function extent(places) {
  const along = (axis) => [0, ...places.map((place) => place[axis])];
  return {
    left: Math.min(...along(0)),
    right: Math.max(...along(0)),
    top: Math.min(...along(1)),
    bottom: Math.max(...along(1)),
  };
}

/**
 * The same points, pushed apart until neighbours are `gap` away from each other, or nearly so:
 * at the start all heads stand in one place, and their numbers could not be read.
 */
export function spread(points, gap, rounds = 40) {
  const placed = points.map(([x, y], k) => {
    const angle = (2 * Math.PI * k) / Math.max(1, points.length); // from one place in all directions
    return [x + 0.01 * Math.cos(angle), y + 0.01 * Math.sin(angle)];
  });
  for (let round = 0; round < rounds; round++) {
    let moved = false;
    for (let a = 0; a < placed.length; a++) {
      for (let b = a + 1; b < placed.length; b++) {
        const [dx, dy] = [placed[b][0] - placed[a][0], placed[b][1] - placed[a][1]];
        const distance = Math.hypot(dx, dy);
        if (!(distance < gap)) continue; // also where a point is not there
        const push = (gap - distance) / 2 / (distance || 1);
        placed[a] = [placed[a][0] - push * dx, placed[a][1] - push * dy];
        placed[b] = [placed[b][0] + push * dx, placed[b][1] + push * dy];
        moved = true;
      }
    }
    if (!moved) break;
  }
  return placed;
}
