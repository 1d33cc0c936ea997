"use strict";
// What an element reads, and who reads it: by mouse, touch or arrow keys, on the grids of a program.
const marks = []; // of each program: the element that is marked, the one at first, and what marks it
for (const program of document.querySelectorAll(".program-data")) {
  const { shapes, reads } = JSON.parse(program.querySelector("template").content.textContent);
  const grids = new Map([...program.querySelectorAll("svg.grid")].map((grid) => [grid.dataset.tensor, grid]));
  const cell = (name, place) => grids.get(name).children[place];
  const said = program.querySelector(".told");
  const users = new Map();
  const mark = { now: [], first: [], show: (name, place) => { if (grids.get(name)?.children[place]) show(name, place); } };
  marks.push(mark);
  for (const [name, list] of Object.entries(reads)) {
    list.forEach((read, place) => read.forEach(([source, at]) => {
      const key = `${source} ${at}`;
      if (!users.has(key)) users.set(key, []);
      users.get(key).push([name, place]);
    }));
  }
  const close = (name, place, next) => {
    const seen = new Map(), rest = [[name, place]];
    while (rest.length) {
      for (const [other, at] of next(...rest.pop())) {
        const key = `${other} ${at}`;
        if (!seen.has(key)) { seen.set(key, [other, at]); rest.push([other, at]); }
      }
    }
    return [...seen.values()];
  };
  const index = (name, place) => {
    const found = [];
    for (const extent of [...shapes[name]].reverse()) { found.unshift(place % extent); place = Math.floor(place / extent); }
    return found.length ? `${name}[${found}]` : name;
  };
  const counts = (list) => {
    const found = new Map();
    for (const [name] of list) found.set(name, (found.get(name) ?? 0) + 1);
    return [...found].map(([name, n]) => `${n} of ${name}`).join(", ");
  };
  const show = (name, place) => {
    program.querySelectorAll(".here, .reads, .used").forEach((each) => each.classList.remove("here", "reads", "used"));
    const sources = close(name, place, (n, p) => reads[n]?.[p] ?? []);
    const readers = close(name, place, (n, p) => users.get(`${n} ${p}`) ?? []);
    sources.forEach(([n, p]) => cell(n, p).classList.add("reads"));
    readers.forEach(([n, p]) => cell(n, p).classList.add("used"));
    cell(name, place).classList.add("here");
    mark.now = [place, name];
    address.note();
    const own = reads[name]?.[place] ?? [];
    said.textContent = `${index(name, place)}`
      + (own.length ? ` reads ${own.length <= 6 ? own.map(([n, p]) => index(n, p)).join(", ") : counts(own)}` : "")
      + (sources.length > own.length ? `; it rests on ${counts(sources)}` : "")
      + (readers.length ? `; it is used by ${counts(readers)}` : "");
    grids.forEach((grid) => { grid.dataset.at = grid.dataset.tensor === name ? place : grid.dataset.at ?? 0; });
  };
  for (const [name, grid] of grids) {
    grid.setAttribute("tabindex", "0");
    grid.setAttribute("role", "application");  // so that a screen reader leaves the arrow keys to it
    const at = (event) => [...grid.children].indexOf(event.target.closest("rect"));
    for (const kind of ["pointerover", "pointerdown"]) grid.addEventListener(kind, (event) => { const n = at(event); if (n >= 0) show(name, n); });
    grid.addEventListener("focus", () => show(name, Number(grid.dataset.at ?? 0)));
    grid.addEventListener("keydown", (event) => {
      const shape = shapes[name], columns = shape.at(-1) ?? 1, count = grid.children.length;
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      show(name, Math.min(count - 1, Math.max(0, Number(grid.dataset.at ?? 0) + step)));
    });
  }
  // At first the middle of the output, as the page shows it without this script.
  const marked = program.querySelector("rect.here");
  if (marked) { const grid = marked.parentElement; show(grid.dataset.tensor, [...grid.children].indexOf(marked)); }
  mark.first = mark.now;
}
// The element that is marked is kept in the page's address: 1.6.T1 is number 6 of T1 in the second program.
address.part("element",
  () => marks.flatMap(({ now, first }, n) => (`${now}` === `${first}` ? [] : [[n, ...now].join(".")])).join(" "),
  (text) => {
    const other = new Map(text.split(" ").map((each) => /^(\d+)\.(\d+)\.(.+)$/.exec(each)).filter(Boolean).map(([, n, place, name]) => [Number(n), [place, name]]));
    marks.forEach(({ first, show }, n) => { const [place, name] = other.get(n) ?? first; show(name, Number(place)); });
  });
