"use strict";
// The page is complete without this: it opens what a link points to, and everything for print.
const opened = (target) => {
  for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
};
const follow = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target) { opened(target); target.scrollIntoView(); }
};
addEventListener("hashchange", follow);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((e) => { e.open = true; }));
// What scrolls sideways can be reached by the keyboard.
const reachable = () => document.querySelectorAll(".line, .identity").forEach((e) => {
  if (e.scrollWidth > e.clientWidth) e.tabIndex = 0; else e.removeAttribute("tabindex");
});
addEventListener("resize", reachable);
document.addEventListener("toggle", reachable, true);
document.querySelectorAll(".switch input").forEach((e) => e.addEventListener("change", reachable));
follow();
reachable();
