"use strict";
// The tree of a search on a canvas.  What lies outside of the view costs nothing, lines and dots of one
// look are one path, and where rows are closer than a pixel, one line stands for all that would cover it.
const COLUMN = 190, ROW = 30, LEGIBLE = 11.5, WIDEST = 3;
const LOOKS = ["given", "assembled", "read", "explorative", "converging", "chosen"];
// One number for a pixel and what is drawn there.
const pixel = (x, y, kind) => ((Math.round(y) + 100) * 8192 + Math.round(x) + 100) * 16 + kind;
const between = (least, value, most) => Math.min(most, Math.max(least, value));

// `tree`: parents, ways, label(i), rule(i), hidden(i) as a count, chosen as a Set, of states 0, 1, ...
const treeDrawing = (canvas, tree) => {
  const pen = canvas.getContext("2d");
  let colours = {}, shown = [], rows = [], column = () => 0, at = new Map(), trunks = [], widest = 0, height = 0, leads = new Set();
  const view = { across: 1, down: 1, left: 20, top: 32 };

  // `found` are the states in the order of their rows; `place` gives the column of a state, in pixels.
  const layout = (found, place) => {
    ({ shown, rows, height } = found);
    column = place;
    at = new Map(shown.map((i, k) => [i, k]));
    widest = shown.reduce((most, i) => Math.max(most, column(i)), 0);
    const open = new Map();
    leads = new Set();
    shown.forEach((i, k) => {
      const parent = tree.parents[i], from = at.get(parent);
      if (from === undefined) return;
      if (rows[k] === rows[from]) leads.add(parent);
      const look = lookOf(i), name = `${parent} ${look}`, trunk = open.get(name);
      if (trunk) trunk.to = rows[k]; else open.set(name, { parent, look, from: rows[from], to: rows[k] });
    });
    trunks = [...open.values()].filter((each) => each.to > each.from);
  };
  const lookOf = (i) => (tree.chosen.has(i) && tree.chosen.has(tree.parents[i]) ? "chosen" : tree.ways[i]);
  const x = (i) => view.left + column(i) * view.across;
  const y = (k) => view.top + rows[k] * ROW * view.down;
  const line = (look) => ({
    chosen: [colours.accent, 3, []], converging: [colours.good, 1, []], explorative: [colours.muted, 1, [5, 3]],
    read: [colours.muted, 1, [1, 3]],
  })[look] ?? [colours.muted, 1, []];

  // The first row at or below a height in pixels.
  const rowAt = (pixel) => {
    let low = 0, high = shown.length;
    while (low < high) { const middle = (low + high) >> 1; if (y(middle) < pixel) low = middle + 1; else high = middle; }
    return low;
  };
  const draw = ({ marked, hits, ticks }) => {
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, tall = canvas.clientHeight;
    if (canvas.width !== width * ratio || canvas.height !== tall * ratio) { canvas.width = width * ratio; canvas.height = tall * ratio; }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, tall);
    const pitch = ROW * view.down, size = between(1, pitch / 3, 5);
    const first = rowAt(-pitch), end = rowAt(tall + pitch);
    axis(ticks, width, tall);

    const lines = new Map(), pathOf = (look) => lines.get(look) ?? lines.set(look, new Path2D()).get(look);
    for (const { parent, look, from, to } of trunks) {
      const a = view.top + from * pitch, b = view.top + to * pitch, across = x(parent);
      if (b < 0 || a > tall || across < -4 || across > width + 4) continue;
      const path = pathOf(look);
      path.moveTo(across, Math.max(a, -12));
      path.lineTo(across, Math.min(b, tall + 12));
    }
    const covered = new Set();
    for (let k = first; k < end; k++) {
      const i = shown[k], parent = tree.parents[i];
      if (!at.has(parent)) continue;
      const from = x(parent), to = x(i), look = lookOf(i);
      if (to < 0 || from > width) continue;
      if (pitch < 1) {
        const place = pixel(from, y(k), LOOKS.indexOf(look));
        if (covered.has(place)) continue;
        covered.add(place);
      }
      const path = pathOf(look);
      path.moveTo(from, y(k));
      path.lineTo(to, y(k));
    }
    for (const look of LOOKS) {
      if (!lines.has(look)) continue;
      const [colour, thick, dash] = line(look);
      pen.strokeStyle = colour;
      pen.lineWidth = pitch < 4 && look !== "chosen" ? 0.5 : thick;
      pen.setLineDash(pitch < 4 ? [] : dash);
      pen.stroke(lines.get(look));
    }
    pen.setLineDash([]);
    dots(first, end, size, width, marked, hits);
    if (pitch >= LEGIBLE || view.across * COLUMN > 60) labels(first, end, pitch, width, marked);
  };
  const axis = (ticks, width, tall) => {
    pen.fillStyle = colours.muted;
    pen.strokeStyle = colours.rule;
    pen.lineWidth = 1;
    pen.font = `11px ${colours.font}`;
    pen.beginPath();
    let free = 0;
    for (const [place, words] of ticks) {
      const across = Math.round(view.left + place * view.across) + 0.5;
      if (across < free || across > width) continue;
      pen.moveTo(across, 0);
      pen.lineTo(across, tall);
      pen.fillText(words, across + 3, tall - 5);
      free = across + pen.measureText(words).width + 12;
    }
    pen.stroke();
  };
  const dots = (first, end, size, width, marked, hits) => {
    const kinds = new Map(), covered = new Set();
    for (let k = first; k < end; k++) {
      const i = shown[k], chosen = tree.chosen.has(i), across = x(i);
      if (across < -8 || across > width + 8) continue;
      const wide = chosen ? Math.max(size, 3.5) : size;
      if (size < 2 && !chosen) {
        const place = pixel(across, y(k), 2 * LOOKS.indexOf(tree.ways[i]) + hits.has(i));
        if (covered.has(place)) continue;
        covered.add(place);
      }
      const kind = `${chosen ? "chosen" : ""} ${tree.ways[i]} ${hits.has(i) ? "hit" : ""}`;
      const paths = kinds.get(kind) ?? kinds.set(kind, { dots: new Path2D(), halos: new Path2D() }).get(kind);
      const disc = (path, r) => { path.moveTo(across + r, y(k)); path.arc(across, y(k), r, 0, 7); };
      if (tree.ways[i] === "read" || wide < 2) paths.dots.rect(across - wide * 0.9, y(k) - wide * 0.9, wide * 1.8, wide * 1.8); else disc(paths.dots, wide);
      if (hits.has(i)) disc(paths.halos, Math.max(2.5, 2 * size));
    }
    for (const [kind, { halos }] of kinds) if (kind.endsWith("hit")) { pen.fillStyle = colours["bar-2"]; pen.fill(halos); }
    for (const [kind, paths] of kinds) {
      const [chosen, way] = kind.split(" ");
      const colour = chosen ? colours.accent : way === "converging" ? colours.good : colours.muted;
      pen.fillStyle = way === "explorative" && size >= 2 ? colours.paper : colour;
      pen.strokeStyle = colour;
      pen.lineWidth = 1.6;
      pen.fill(paths.dots);
      if (size >= 2) pen.stroke(paths.dots);
    }
    if (at.has(marked)) {
      pen.strokeStyle = colours.ink;
      pen.lineWidth = 2;
      pen.strokeRect(x(marked) - 9, y(at.get(marked)) - 9, 18, 18);
    }
  };
  // As much of a label as has room before the next expression of its row.
  const labels = (first, end, pitch, width, marked) => {
    const dense = pitch < LEGIBLE, taken = [];
    for (let k = first; k < end; k++) {
      const i = shown[k], chosen = tree.chosen.has(i), across = x(i), high = y(k);
      if (across > width || across < -COLUMN * view.across || (dense && !chosen && i !== marked)) continue;
      if (dense && taken.some(([a, b]) => Math.abs(a - across) < 90 && Math.abs(b - high) < 14)) continue;
      taken.push([across, high]);
      const rule = tree.rule(i), free = !leads.has(i), room = free ? Infinity : COLUMN * view.across - 14;
      const small = pitch < 15 ? 11 : 12, more = tree.hidden(i) ? `+${tree.hidden(i)}` : "";
      pen.font = `${chosen ? "600 " : ""}${small}px ${colours.font}`;
      pen.fillStyle = chosen ? colours.ink : colours.muted;
      const name = tree.label(i), full = `${name} ${rule}`;
      const said = [`${full} ${more}`, full, `${name} ${more}`, rule.startsWith("(") ? name : rule, name]
        .find((words) => words.trim() && pen.measureText(words).width <= room);
      if (said) pen.fillText(said, across + (i === marked ? 13 : 6), high - (pitch > 24 ? 9 : 4));
    }
  };

  const fitted = (least) => {
    view.across = between(least.across, (canvas.clientWidth - 40 - Math.min(110, canvas.clientWidth / 6)) / Math.max(1, widest), 1);
    view.down = between(least.down, (canvas.clientHeight - 58) / Math.max(1, height * ROW), 1);
    view.left = 20; view.top = 32;
  };
  // The most pixels that the rows have taken so far: a canvas that shrank would move the page.
  let tallest = 0;
  const finest = () => ({ across: 0.02, down: 5 / Math.max(5, height * ROW) });
  return {
    view, layout, draw, tallest: () => (tallest = Math.max(tallest, 58 + height * ROW)), colours: () => { colours = coloursOf(); },
    // All of it; or its beginning, large enough to be read.
    fit: () => fitted({ across: 0.02, down: 0 }),
    home: () => fitted({ across: 0.42, down: 0.6 }),
    // Rows that are closer than columns come apart first, so that a whole tree becomes a readable part of it.
    zoom: (factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) => {
      const before = { ...view }, least = finest(), uneven = view.down < view.across * 0.9;
      view.down = between(least.down, view.down * (uneven ? factor ** 2 : factor), WIDEST);
      if (!uneven || factor < 1) view.across = between(Math.max(least.across, factor < 1 ? 0.1 : 0), view.across * (uneven ? 1 : factor), WIDEST);
      view.left = px - ((px - view.left) * view.across) / before.across;
      view.top = py - ((py - view.top) * view.down) / before.down;
    },
    // What moves the view so that a state stays where it was, or comes into it.
    place: (i) => (at.has(i) ? { x: x(i), y: y(at.get(i)) } : null),
    nearest: (px, py) => {
      let best = -1, least = 14 ** 2;
      for (let k = rowAt(py - 14), end = rowAt(py + 20); k < end; k++) {
        const i = shown[k], label = view.down * ROW < LEGIBLE ? 0 : 0.6 * COLUMN * view.across, from = x(i);
        const far = (px < from ? from - px : Math.max(0, px - from - label)) ** 2 + (y(k) - py) ** 2;
        if (far < least) { least = far; best = i; }
      }
      return best;
    },
  };
};
