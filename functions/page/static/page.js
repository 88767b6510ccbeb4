// Keeps the page up to date. Without it everything can be read, and said, all the same.
"use strict";

(() => {
  // The server announces changes, or else the page looks for them every so many seconds, as long as something is in progress.
  const { version, poll } = document.body.dataset;
  if (!version && !poll) return;

  const told = document.getElementById("told");
  const live = document.getElementById("live");

  // What each part was when the server last sent it: people fold and unfold.
  const sent = new WeakMap();
  for (const region of document.querySelectorAll("[data-live]"))
    for (const part of region.children) sent.set(part, part.outerHTML);

  // keepOpen leaves unfolded what was unfolded.
  function keepOpen(from, to) {
    const before = from.querySelectorAll("details"), after = to.querySelectorAll("details");
    if (before.length === after.length) after.forEach((d, i) => { d.open = before[i].open; });
  }

  // bring makes a region what it is in the new page, and leaves parts alone that have
  // not changed. It returns the names of the parts that have.
  function bring(region, fresh) {
    const changed = [];
    const wanted = [...fresh.children];
    for (const part of [...region.children])
      if (!wanted.some((w) => w.id === part.id)) part.remove();
    let at = region.firstElementChild;
    for (const part of wanted) {
      const source = part.outerHTML;
      const have = part.id && [...region.children].find((c) => c.id === part.id);
      if (have && sent.get(have) === source) {
        if (have !== at) region.insertBefore(have, at);
        at = have.nextElementSibling;
        continue;
      }
      const node = document.adoptNode(part);
      sent.set(node, source);
      if (have) {
        keepOpen(have, node);
        if (have === at) at = at.nextElementSibling;
        have.replaceWith(node);
      } else {
        region.insertBefore(node, at);
      }
      node.classList.add("fresh");
      changed.push(node.getAttribute("aria-label") || "");
    }
    return changed.filter((name) => name);
  }

  let busy = false, again = false, next = poll;
  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" } });
      if (!answer.ok) {
        if (answer.status < 429) next = 0; // the session has ended, or the page is gone
        return;
      }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      next = page.body.dataset.poll;
      const changed = [];
      for (const region of document.querySelectorAll("[data-live]")) {
        const fresh = page.getElementById(region.id);
        if (fresh) changed.push(...bring(region, fresh));
      }
      if (changed.length) told.textContent = "Now: " + changed.join(", ");
    } catch {
      // The browser has no connection. The next look may have one.
    } finally {
      busy = false;
      if (again) { again = false; refresh(); }
    }
  }

  if (version) {
    const events = new EventSource("/events?since=" + version);
    events.addEventListener("open", () => { live.hidden = false; live.className = "live"; live.textContent = "live"; });
    events.addEventListener("error", () => { live.className = "live lost"; live.textContent = "not connected"; });
    events.addEventListener("message", refresh);
  } else {
    const look = async () => {
      if (!document.hidden) await refresh();
      if (next) setTimeout(look, next * 1000);
    };
    setTimeout(look, next * 1000);
  }

  // Control and Enter send a comment.
  const text = document.getElementById("text");
  if (text)
    text.addEventListener("keydown", (e) => {
      if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
        e.preventDefault();
        text.form.requestSubmit(text.form.querySelector("button.primary"));
      }
    });
})();
