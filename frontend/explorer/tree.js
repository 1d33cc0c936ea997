"use strict";
// What drawings of a search share: the order of a tree's rows, colours, seconds in words.
const seconds = (value) => {
  if (value < 0) return "unknown";
  const [size, unit] = value >= 1 ? [1, "s"] : value >= 1e-3 ? [1e-3, "ms"] : [1e-6, "us"];
  return `${Number((value / size).toPrecision(3))} ${unit}`;
};
// `visible` gives the children to show.  A state stands in the row of its first child; each further leaf takes the next row.
const rowsOf = (roots, visible, known = () => true) => {
  const shown = [], rows = [], rest = [...roots].reverse().map((i) => [i, true]);
  let row = 0;
  while (rest.length) {
    const [i, fresh] = rest.pop();
    if (!known(i)) continue;
    if (fresh && shown.length) row++;
    shown.push(i);
    rows.push(row);
    const below = visible(i);
    for (let c = below.length - 1; c >= 0; c--) rest.push([below[c], c > 0]);
  }
  return { shown, rows, height: row };
};
const coloursOf = () => {
  const probe = document.body.appendChild(document.createElement("i")), style = getComputedStyle(probe), found = { font: style.fontFamily };
  for (const name of ["ink", "muted", "rule", "accent", "good", "bar-2", "paper", "panel"]) {
    probe.style.color = `var(--${name})`;
    found[name] = style.color;
  }
  probe.remove();
  return found;
};
