// A text area for queries: what may come next is asked of the page while one types, Ctrl+Enter runs the query.
const WAIT_MS = 120;
const WORD = /[A-Za-z_][\w.]*$/;

export default function (component) {
  const { parentElement, data, setStateValue, setTriggerValue } = component;
  const area = parentElement.querySelector("textarea");
  const list = parentElement.querySelector("ul");
  const run = parentElement.querySelector("button");
  // `wanted`: whether suggestions may show; those that come late, after Escape or a run, do not.
  const kept = (area.cx ??= { text: null, chosen: 0, found: [], wanted: false });

  // Another query came from the page: a link, an example, one of the history.
  if (kept.text !== data.text) {
    kept.text = data.text;
    area.value = data.text;
    area.rows = Math.min(16, Math.max(4, data.text.split("\n").length + 1));
  }

  const tell = () => setStateValue("draft", { text: area.value, at: area.selectionStart });
  const later = () => {
    kept.wanted = true;
    clearTimeout(kept.timer);
    kept.timer = setTimeout(tell, WAIT_MS);
  };
  const close = () => {
    clearTimeout(kept.timer);
    kept.wanted = false;
    kept.found = [];
    draw();
  };
  const insert = (item) => {
    const at = area.selectionStart;
    const typed = (area.value.slice(0, at).match(WORD) ?? [""])[0];
    area.focus();
    area.setSelectionRange(at - typed.length, at);
    // Through the browser, so that Ctrl+Z takes it back.
    if (!document.execCommand("insertText", false, item.text)) area.setRangeText(item.text, at - typed.length, at, "end");
    close();
    if (item.text.endsWith(".")) later();
  };
  const draw = () => {
    list.replaceChildren(
      ...kept.found.map((item, place) => {
        const row = document.createElement("li");
        const name = document.createElement("b");
        const about = document.createElement("span");
        name.textContent = item.text;
        about.textContent = [item.kind, item.about].filter(Boolean).join(" · ");
        row.append(name, about);
        row.setAttribute("role", "option");
        row.setAttribute("aria-selected", place === kept.chosen);
        row.onmousedown = (event) => {
          event.preventDefault();
          insert(item);
        };
        return row;
      }),
    );
    list.hidden = !kept.found.length;
    area.setAttribute("aria-expanded", !list.hidden);
  };

  // What was found is of what was typed when it was asked for.
  const fresh = data.draft && data.draft.text === area.value && data.draft.at === area.selectionStart;
  if (fresh && kept.wanted) {
    kept.wanted = false;
    kept.found = data.found;
    kept.chosen = 0;
  }
  draw();

  area.oninput = () => {
    if (!WORD.test(area.value.slice(0, area.selectionStart))) close();
    later();
  };
  area.onblur = () => setTimeout(close, 150);
  const start = () => {
    close();
    setTriggerValue("run", area.value);
  };
  run.onclick = start;
  area.onkeydown = (event) => {
    const open = kept.found.length > 0;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      start();
    } else if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      kept.chosen = (kept.chosen + step + kept.found.length) % kept.found.length;
      draw();
      list.children[kept.chosen].scrollIntoView({ block: "nearest" });
    } else if (open && (event.key === "Tab" || event.key === "Enter")) {
      event.preventDefault();
      insert(kept.found[kept.chosen]);
    } else if (event.key === "Escape") {
      event.preventDefault();
      close();
    } else if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      kept.wanted = true;
      tell();
    }
  };
}
