"use strict";
// The search page.  A question of several words also finds the pages that have one of them among
// their words (docs/search_words.py), and lists first those that have most.
document.addEventListener("DOMContentLoaded", () => {
  // Pages opened from a file may read no other file, so they show no excerpts.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  if (typeof Search === "undefined") return;
  const perform = Search._performSearch;
  Search._performSearch = (query, ...rest) => {
    const found = perform(query, ...rest), words = query.toLowerCase().match(/[\w.]{3,}/g) ?? [];
    const { docnames, titles, filenames, indexentries } = Search._index, hits = new Map();
    if (words.length < 2 || Object.hasOwn(indexentries, query.toLowerCase().trim())) return found;
    for (const word of new Set(words))
      for (const [page, anchor] of Object.hasOwn(indexentries, word) ? indexentries[word] : [])
        if (!anchor) hits.set(page, (hits.get(page) ?? 0) + 1);
    const first = [...hits].sort((a, b) => a[1] - b[1]).map(([page, count]) =>
      [docnames[page], titles[page], "", null, 100 * count, filenames[page], SearchResultKind.index]);
    const listed = new Set(first.map(([page]) => page));
    return [...found.filter(([page, , anchor]) => anchor || !listed.has(page)), ...first];
  };
});
