"use strict";
// What scrolls sideways can be reached by the keyboard.  What is folded away is left alone: its layout is not made yet.
// A script that writes lines into the page calls this for them.
const reachable = (part = document) => part.querySelectorAll(".line, .identity").forEach((e) => {
  if (!e.checkVisibility()) return;
  if (e.scrollWidth > e.clientWidth) e.tabIndex = 0; else e.removeAttribute("tabindex");
});
addEventListener("resize", () => reachable());
document.addEventListener("toggle", ({ target }) => reachable(target), true);
document.querySelectorAll(".switch input").forEach((each) => each.addEventListener("change", () => reachable()));
