"use strict";
(() => {
  const began = performance.now();
  const table = document.querySelector("table.rows");
  document.documentElement.classList.add("scripted");
  if (!table) return;

  const form = document.querySelector("form.filters");
  const [search, file, test] = ["search", "file", "test"].map((id) => document.getElementById(id));
  const verdicts = [...form.querySelectorAll("button[data-v]")];
  const shown = document.getElementById("shown");
  const openAll = document.getElementById("open-all");
  const MOST_OPENED = 300;
  const noMatch = document.getElementById("no-match");

  const rows = [...table.tBodies].map((body) => {
    const [, where, what, test] = body.rows[0].cells;
    const row = {
      body,
      verdict: body.dataset.v,
      rank: +body.dataset.r,
      place: +body.dataset.p,
      path: where.firstElementChild.textContent.replace(/:\d+$/, ""),
      what: what.textContent.toLowerCase(),
      test: test.textContent.trim(),
      hidden: false,
    };
    row.words = `${where.textContent} ${row.what} ${row.test} ${row.verdict}`.toLowerCase();
    return row;
  });

  // Filters.
  const words = (field) => field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (where, needles) => needles.every((needle) => where.includes(needle));

  function filter() {
    const wanted = new Set(verdicts.filter(isPressed).map((button) => button.dataset.v));
    const [anywhere, inPath, inTest] = [search, file, test].map(words);
    let count = 0;
    for (const row of rows) {
      const matches =
        (!wanted.size || wanted.has(row.verdict)) &&
        holds(row.words, anywhere) &&
        holds(row.path.toLowerCase(), inPath) &&
        holds(row.test.toLowerCase(), inTest);
      if (row.hidden === matches) row.body.hidden = row.hidden = !matches;
      count += matches;
    }
    const all = `${rows.length} ${rows.length === 1 ? "row" : "rows"}`;
    shown.textContent = count === rows.length ? all : `${count} of ${all}`;
    noMatch.hidden = count > 0;
    form.classList.toggle("active", count !== rows.length);
    openAll.hidden = !count || count > MOST_OPENED;
  }

  const isPressed = (button) => button.getAttribute("aria-pressed") === "true";
  const press = (button, on) => button.setAttribute("aria-pressed", String(on));

  function clear() {
    for (const field of [search, file, test]) field.value = "";
    for (const button of verdicts) press(button, false);
    filter();
  }

  function suggest(field, value) {
    const options = () => [...new Set(rows.map(value))].sort().map((text) => new Option(text, text));
    field.addEventListener("focus", () => field.list.replaceChildren(...options()), { once: true });
  }

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => { event.preventDefault(); clear(); });
  for (const button of verdicts) {
    button.addEventListener("click", () => { press(button, !isPressed(button)); filter(); });
  }
  suggest(file, (row) => row.path);
  suggest(test, (row) => row.test);

  // Order.
  const keys = {
    verdict: (row) => row.rank,
    where: (row) => row.place,
    what: (row) => row.what,
    test: (row) => row.test,
  };

  function sort(header) {
    const down = header.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = keys[header.dataset.key];
    const sign = down ? -1 : 1;
    rows.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      return x < y ? -sign : x > y ? sign : a.place - b.place;
    });
    table.append(...rows.map((row) => row.body));
  }

  for (const header of table.tHead.querySelectorAll("[data-key]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort(header));
    header.append(button);
  }

  // In a long report the details are text until somebody opens them.
  function build(details) {
    const asText = details.querySelector("noscript");
    if (asText) asText.outerHTML = asText.textContent;
  }

  table.addEventListener("toggle", ({ target }) => {
    build(target);
    target.closest("tbody").classList.toggle("open", target.open);
  }, true);

  function open(details) {
    build(details);
    details.open = true;
  }

  openAll.addEventListener("click", () => {
    for (const row of rows) if (!row.hidden) open(row.body.querySelector("details"));
  });

  // A row opens where it is clicked, unless that selects text or follows a link.
  const summaryOf = (body) => body.querySelector("summary");

  table.addEventListener("click", (event) => {
    const body = event.target.closest("tbody");
    if (!body || event.target.closest("a, summary, .panel") || String(getSelection())) return;
    const details = body.querySelector("details");
    build(details);
    details.open = !details.open;
  });

  // A link to a row leads there, whatever the filters say.
  function follow() {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* as it is */ }
    const body = id && document.getElementById(id);
    if (!body || body.parentNode !== table) return;
    if (body.hidden) clear();
    open(body.querySelector("details"));
    body.scrollIntoView({ block: "start" });
    summaryOf(body).focus({ preventScroll: true });
  }

  addEventListener("hashchange", follow);
  addEventListener("load", follow); // not before: a browser that goes to an anchor takes the focus away
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#row-']");
    if (link && link.hash === location.hash) follow();
  });

  // Keys.
  function step(by) {
    const seen = rows.filter((row) => !row.hidden);
    const here = document.activeElement.closest("table.rows > tbody");
    const at = seen.findIndex((row) => row.body === here);
    const next = seen[at < 0 ? 0 : Math.min(Math.max(at + by, 0), seen.length - 1)];
    if (!next) return;
    summaryOf(next.body).focus({ preventScroll: true });
    next.body.scrollIntoView({ block: "nearest" });
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return clear();
    if (event.target.matches("input")) return;
    const action = { "/": () => search.select(), j: () => step(1), k: () => step(-1) }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  filter();
  performance.measure("invertgate", { start: began });
})();
