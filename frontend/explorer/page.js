"use strict";
// The page is complete without this: it keeps what is unfolded, and opens everything for print.
const folds = [...document.querySelectorAll("main details")], atFirst = folds.map((each) => each.open);
address.part("open",
  () => folds.flatMap((each, i) => (each.open === atFirst[i] ? [] : [i])).join("."),
  (text) => { const other = new Set(numbers(text, folds.length)); folds.forEach((each, i) => { each.open = atFirst[i] !== other.has(i); }); });
let beforePrint = [];
addEventListener("beforeprint", () => { beforePrint = folds.map((each) => each.open); folds.forEach((each) => { each.open = true; }); });
addEventListener("afterprint", () => folds.forEach((each, i) => { each.open = beforePrint[i] ?? each.open; }));
// What scrolls sideways can be reached by the keyboard.  What is folded away is left alone: its layout is not made yet.
const reachable = (part = document) => part.querySelectorAll(".line, .identity").forEach((e) => {
  if (!e.checkVisibility()) return;
  if (e.scrollWidth > e.clientWidth) e.tabIndex = 0; else e.removeAttribute("tabindex");
});
addEventListener("resize", () => reachable());
document.addEventListener("toggle", ({ target }) => { reachable(target); address.note(); }, true);
document.querySelectorAll(".switch input").forEach((e) => e.addEventListener("change", () => reachable()));
address.follow();
reachable();
