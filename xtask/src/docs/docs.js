// What the documents do in the browser: theme, search, copying code. Every page reads without it.
const script = document.currentScript;
const make = (tag, fields = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), fields);
  element.append(...children);
  return element;
};

// Theme: the same choice, under the same key, as in the app.
const KEY = "cascade-theme";
const stored = () => {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
};
const themes = document.querySelectorAll("[data-theme-choice]");
const showTheme = (choice) => {
  for (const button of themes) button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
  if (choice === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
};
for (const button of themes) {
  button.addEventListener("click", () => {
    showTheme(button.dataset.themeChoice);
    try {
      localStorage.setItem(KEY, button.dataset.themeChoice);
    } catch {} // Where storage is forbidden the choice lasts as long as the page.
  });
}
showTheme(["light", "dark"].includes(stored()) ? stored() : "system");
document.querySelector(".segmented").hidden = false;

// Copying: a command is copied without its prompt, since there is none.
for (const block of document.querySelectorAll(".code")) {
  const button = make("button", { type: "button", className: "button code-copy", textContent: "Copy" });
  button.addEventListener("click", async () => {
    const text = block.querySelector("code").textContent;
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    button.textContent = done ? "Copied" : "Not allowed";
    setTimeout(() => (button.textContent = "Copy"), 1600);
  });
  block.append(button);
}

// Commands name this deployment where the text says the default addresses.
const here = async () => {
  const health = await fetch("/api/health").then((answer) => answer.json());
  const names = [["http://127.0.0.1:8000", location.origin]];
  if (health.s3_endpoint) names.push(["http://127.0.0.1:9000", health.s3_endpoint]);
  for (const code of document.querySelectorAll('.code[data-lang="sh"] code, .code[data-lang="python"] code')) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
      for (const [from, to] of names) walker.currentNode.data = walker.currentNode.data.replaceAll(from, to);
  }
};
here().catch(() => {}); // Pages read from files have no app beside them.

// The contents follow what is read.
const links = new Map([...document.querySelectorAll(".doc-toc a")].map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
const headings = [...document.querySelectorAll(".doc-body :is(h2, h3)[id]")].filter((h) => links.has(h.id));
const follow = () => {
  const top = headings.findLast((h) => h.getBoundingClientRect().top < 120);
  for (const [id, a] of links) a.toggleAttribute("aria-current", id === top?.id);
};
addEventListener("scroll", follow, { passive: true });
follow();

// Search: every word must occur; titles count more than text, beginnings more than middles.
const dialog = document.querySelector(".doc-search");
const input = dialog.querySelector("input");
const list = dialog.querySelector("ul");
const note = dialog.querySelector("[role=status]");
let entries;
const load = () => (entries ??= fetch(script.dataset.index).then((answer) => answer.json()));
const score = ([page, heading, , text], words) => {
  let sum = 0;
  const [title, above, body] = [heading.toLowerCase(), page.toLowerCase(), text.toLowerCase()];
  for (const word of words) {
    const at = (where, weight) => {
      const found = where.indexOf(word);
      return found < 0 ? 0 : found === 0 || /\W/.test(where[found - 1]) ? weight * 2 : weight;
    };
    const best = at(title, 8) + at(above, 3) + at(body, 1);
    if (!best) return 0;
    sum += best;
  }
  return sum + 4 / title.length;
};
const excerpt = (text, words) => {
  const found = Math.max(0, Math.min(...words.map((w) => text.toLowerCase().indexOf(w)).filter((at) => at >= 0), text.length));
  const start = found > 60 ? text.indexOf(" ", found - 50) + 1 : 0;
  const shown = (start ? "… " : "") + text.slice(start, start + 150);
  const parts = [];
  let rest = shown;
  while (rest) {
    const low = rest.toLowerCase();
    const hits = words.map((w) => [low.indexOf(w), w.length]).filter(([at]) => at >= 0);
    const [at, length] = hits.sort((a, b) => a[0] - b[0])[0] ?? [rest.length, 0];
    parts.push(rest.slice(0, at));
    if (length) parts.push(make("mark", { textContent: rest.slice(at, at + length) }));
    rest = rest.slice(at + length);
  }
  return parts;
};
const options = () => [...list.querySelectorAll("a")];
const choose = (at) => {
  const items = options();
  items.forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
  if (items[at]) {
    input.setAttribute("aria-activedescendant", items[at].id);
    items[at].scrollIntoView({ block: "nearest" });
  } else input.removeAttribute("aria-activedescendant");
};
const chosen = () => options().findIndex((item) => item.getAttribute("aria-selected") === "true");
const search = async () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = await load().catch(() => null);
  const hits = (all ?? [])
    .map((entry) => [words.length ? score(entry, words) : 0, entry])
    .filter(([points]) => points > 0)
    .sort((a, b) => b[0] - a[0])
    .slice(0, 12);
  list.replaceChildren(
    ...hits.map(([, [page, heading, address, text]], i) => {
      // The link is the option itself: an option may hold nothing that takes the focus.
      const link = make("a", { id: `doc-result-${i}`, href: address, tabIndex: -1, role: "option" });
      link.append(make("strong", { textContent: heading }));
      if (heading !== page) link.append(make("span", { className: "muted", textContent: page }));
      link.append(make("span", { className: "doc-search-text" }, ...excerpt(text, words)));
      return make("li", { role: "none" }, link);
    }),
  );
  input.setAttribute("aria-expanded", String(hits.length > 0));
  choose(hits.length ? 0 : -1);
  if (!all) note.textContent = "The search could not be loaded. Reload the page to try again.";
  else if (!words.length) note.textContent = "Type a word; arrows choose, Enter opens, Escape closes.";
  else note.textContent = hits.length ? `${hits.length} found` : "Nothing found. Try another word.";
};
const open = () => {
  if (dialog.open) return;
  dialog.showModal();
  input.select();
  search();
};
document.querySelector(".doc-search-open").addEventListener("click", open);
document.querySelector(".doc-search-open").hidden = false;
addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (slash || (event.key === "k" && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    open();
  }
});
input.addEventListener("input", search);
input.addEventListener("keydown", (event) => {
  const count = list.children.length;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    if (count) choose((chosen() + (event.key === "ArrowDown" ? 1 : count - 1)) % count);
  } else if (event.key === "Enter") {
    event.preventDefault();
    options()[chosen()]?.click();
  }
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog || event.target.closest("a")) dialog.close();
});
document.getElementById("doc-nav").addEventListener("click", (event) => {
  if (event.target.closest("a")) event.currentTarget.hidePopover?.();
});
