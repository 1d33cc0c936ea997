"use strict";
// The page is complete without this: it keeps what is unfolded, and for print it opens
// what is about the candidates that are unfolded.
const folds = [...document.querySelectorAll("main details")], atFirst = folds.map((each) => each.open);
address.part("open",
  () => folds.flatMap((each, i) => (each.open === atFirst[i] ? [] : [i])).join("."),
  (text) => { const other = new Set(numbers(text, folds.length)); folds.forEach((each, i) => { each.open = atFirst[i] !== other.has(i); }); });
let beforePrint = [];
addEventListener("beforeprint", () => { beforePrint = folds.map((each) => each.open); folds.forEach((each) => { each.open ||= !each.matches(".candidate"); }); });
addEventListener("afterprint", () => folds.forEach((each, i) => { each.open = beforePrint[i] ?? each.open; }));
document.addEventListener("toggle", () => address.note(), true);
address.follow();
reachable();
