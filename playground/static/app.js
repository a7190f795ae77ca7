// The page: what the workspace shows to one person, and what that person does.

import { renderBlocks } from "./blocks.js";
import { el, mrkdwn } from "./mrkdwn.js";

const byId = (id) => document.getElementById(id);
const kept = new URLSearchParams(location.hash.slice(1));
const here = { user: kept.get("user"), place: kept.get("place"), thread: kept.get("thread"), state: null, drawn: {}, errors: null };

async function post(path, body) {
  const response = await fetch(`/page/${path}`, {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ user: here.user, ...body }),
  });
  const found = await response.json();
  byId("trouble").textContent = found.trouble || "";
  await refresh();
  return found;
}

let refreshing = null, again = false;
function refresh() {
  again = true;
  refreshing ??= refreshed().finally(() => { refreshing = null; });
  return refreshing;
}

async function refreshed() {
  while (again) {
    again = false;
    const asked = here.user;
    const response = await fetch(`/page/state?user=${encodeURIComponent(asked || "")}`);
    const found = await response.json();
    // Somebody else was chosen meanwhile: this is no longer what the page shows.
    if (asked !== here.user) { again = true; continue; }
    here.state = found;
    here.user = found.me.id;
    draw();
  }
}

const names = (id) => here.state.names[id] || null;

function remember() {
  history.replaceState(null, "", "#" + new URLSearchParams({ user: here.user, place: here.place, thread: here.thread || "" }));
}

// Redrawing takes the focus away from what was drawn: only what changed is drawn.
function drawn(name, value) {
  const text = JSON.stringify(value);
  if (here.drawn[name] === text) return true;
  here.drawn[name] = text;
  return false;
}

function draw() {
  const { state } = here;
  if (!here.place || (here.place !== "home" && !state.channels.some((each) => each.id === here.place))) here.place = state.channels[0].id;
  remember();
  drawSide(state);
  drawMain(state);
  drawThread(state);
  drawModal(state);
}

function drawSide(state) {
  if (drawn("side", [state.users, state.channels, here.place, here.user])) return;
  byId("who").replaceChildren(...state.users.map((user) =>
    el("option", { value: user.id, selected: user.id === here.user }, `${user.name} (${user.locale})`)));
  const item = (place, label) => el("li", {}, el("button", {
    type: "button", class: "place", "data-place": place, "aria-current": place === here.place ? "page" : undefined, onclick: () => go(place) }, label));
  byId("channels").replaceChildren(...state.channels.filter((each) => each.kind !== "im").map((each) => item(each.id, `# ${each.name}`)));
  const direct = state.channels.find((each) => each.kind === "im");
  byId("app-places").replaceChildren(item(direct.id, `${state.app.name}: messages`), item("home", `${state.app.name}: Home`));
}

async function go(place) {
  here.place = place;
  here.thread = null;
  if (here.state.me.id !== here.user) await refresh();
  const { state } = here;
  const direct = state.channels.find((each) => each.kind === "im").id;
  draw();
  if (place === "home") await post("home", { tab: "home" });
  else if (place === direct) await post("home", { tab: "messages" });
  if (place !== "home") byId("composer-text").focus();
}

function drawMain(state) {
  const channel = state.channels.find((each) => each.id === here.place);
  const home = here.place === "home";
  byId("place").textContent = home ? `${state.app.name} · Home` : channel.kind === "im" ? state.app.name : `# ${channel.name}`;
  byId("about").textContent = home ? "What the app shows to you alone" : channel.kind === "im" ? "Direct messages with the app" : channel.about;
  byId("composer").hidden = home;
  const prompts = channel?.kind === "im" ? state.prompts : [];
  byId("prompts").replaceChildren(...prompts.map((prompt) => el("button", { type: "button", onclick: () => send(prompt.message, null) }, prompt.title)));
  byId("composer-text").placeholder = channel?.kind === "im" ? "Ask…" : `@${state.app.name} … or /size …`;
  if (home) {
    if (!drawn("stream", ["home", state.home])) byId("stream").replaceChildren(
      el("div", { class: "home" }, ...renderBlocks(state.home?.blocks || [], viewOf(state.home))));
    return;
  }
  const shown = state.messages.filter((each) => each.channel === here.place && (!each.thread_ts || each.thread_ts === each.ts || each.broadcast));
  drawMessages("stream", byId("stream"), shown, state, false);
}

// Messages are keyed: one that did not change keeps its nodes, so that focus and reading place stay.
function drawMessages(name, box, messages, state, inThread) {
  const replies = (root) => state.messages.filter((each) => each.channel === root.channel && each.thread_ts === root.ts && each.ts !== root.ts);
  const keyed = messages.map((message) => [`${message.channel}/${message.ts}/${message.private}`, message, inThread ? 0 : replies(message).length]);
  if (drawn(name, [here.place, here.user, inThread && here.thread, keyed])) return;
  const low = box.scrollHeight - box.scrollTop - box.clientHeight < 80 || box.dataset.where !== `${here.place}/${here.thread}`;
  const before = new Map([...box.children].map((node) => [node.dataset.key, node]));
  const nodes = keyed.map(([key, message, count]) => {
    const text = JSON.stringify([message, count]);
    const known = before.get(key);
    if (known?.dataset.shown === text) return known;
    const node = drawMessage(message, count, state, inThread);
    node.dataset.key = key;
    node.dataset.shown = text;
    return node;
  });
  box.replaceChildren(...nodes);
  box.dataset.where = `${here.place}/${here.thread}`;
  if (low) box.scrollTop = box.scrollHeight;
}

function drawMessage(message, count, state, inThread) {
  const user = state.names[message.user] || message.user || "another app";
  const time = new Date(Number(message.ts) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const content = message.blocks.length ? renderBlocks(message.blocks, messageView(message)) : [el("div", { class: "block" }, ...mrkdwn(message.text, names))];
  return el("article", { class: message.private ? "message private" : "message", "aria-label": `${user}, ${time}` },
    el("span", { class: message.app ? "avatar app" : "avatar", "aria-hidden": "true" }, user.slice(0, 1).toUpperCase()),
    el("div", { class: "body" },
      message.private ? el("p", { class: "only" }, "Only visible to you") : null,
      el("p", { class: "by" }, el("strong", {}, user), message.app ? el("span", { class: "badge" }, "APP") : null, el("time", {}, time)),
      ...content, ...message.files.map(drawFile),
      count ? el("button", { type: "button", class: "replies", onclick: () => openThread(message.ts) }, `${count} ${count === 1 ? "reply" : "replies"}`) : null,
      message.private ? null : messageMenu(message, state, inThread)));
}

function messageMenu(message, state, inThread) {
  return el("div", { class: "menu" },
    inThread ? null : el("button", { type: "button", onclick: () => openThread(message.ts) }, "Reply in thread"),
    ...state.app.shortcuts.map((shortcut) => el("button", {
      type: "button", onclick: () => post("shortcut", { callback: shortcut.callback_id, channel: message.channel, ts: message.ts }) }, shortcut.name)));
}

function drawFile(file) {
  const url = `/page/files/${file.id}`;
  if (/\.(png|jpe?g|gif|webp)$/i.test(file.name)) {
    return el("figure", { class: "file" }, el("figcaption", {}, file.title), el("a", { href: url, target: "_blank" }, el("img", { src: url, alt: file.alt_txt || file.title })));
  }
  return el("p", { class: "file" }, el("a", { href: url, download: file.name }, file.name), ` ${file.title}, ${file.size.toLocaleString()} bytes`);
}

const messageView = (message) => ({
  names, channels: [],
  act: (block, element, extra) => post("click", { channel: message.channel, ts: message.ts, block, element, ...extra }),
});

function viewOf(shown, readers = new Map(), errors = null) {
  return {
    names, errors, channels: here.state.channels.filter((each) => each.kind !== "im"),
    act: (block, element, extra) => post("view_action", { view: shown.id, block, element, ...extra }),
    read: (block, action, value) => readers.set(block, [action, value]),
  };
}

function openThread(ts) {
  here.thread = ts;
  draw();
  byId("thread-text").focus();
}

function drawThread(state) {
  const panel = byId("thread");
  panel.hidden = !here.thread || here.place === "home";
  if (panel.hidden) return;
  const shown = state.messages.filter((each) => each.channel === here.place && (each.ts === here.thread || each.thread_ts === here.thread));
  drawMessages("replies", byId("replies"), shown, state, true);
  const status = state.statuses[`${here.place}/${here.thread}`];
  byId("status").replaceChildren(status ? `${state.app.name} ${status} ` : "", state.processing.includes(`${here.place}/${here.thread}`)
    ? el("button", { type: "button", onclick: () => post("stop", { channel: here.place, thread: here.thread }) }, "Stop") : "");
}

function drawModal(state) {
  const dialog = byId("modal");
  const view = state.modal;
  if (!view) {
    if (dialog.open) dialog.close();
    here.drawn.modal = undefined;
    return;
  }
  if (drawn("modal", [view.id, view.hash, here.errors])) return;
  const readers = new Map();
  const content = renderBlocks(view.blocks, viewOf(view, readers, here.errors));
  const submit = async (event) => {
    event.preventDefault();
    const values = {};
    for (const [block, [action, read]] of readers) values[block] = { [action]: read() };
    const found = await post("submit", { view: view.id, values });
    here.errors = found.errors || null;
    draw();
    if (here.errors) dialog.querySelector("[aria-invalid]")?.focus();
  };
  dialog.replaceChildren(el("form", { onsubmit: submit },
    el("header", {}, el("h2", { id: "modal-title" }, view.title.text)), el("div", { class: "modal-body" }, ...content),
    el("footer", {}, el("button", { type: "button", onclick: closeModal }, view.close?.text || "Close"),
      view.submit ? el("button", { type: "submit", class: "primary" }, view.submit.text) : null)));
  if (!dialog.open) dialog.showModal();
}

async function closeModal() {
  here.errors = null;
  await post("close", { view: here.state.modal?.id });
}

async function encoded(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  // In pieces: all bytes at once are more arguments than a function may have.
  for (let start = 0; start < bytes.length; start += 32768) text += String.fromCharCode(...bytes.subarray(start, start + 32768));
  return { name: file.name, type: file.type, content: btoa(text) };
}

async function send(text, thread, files = []) {
  const line = text.trim();
  if (!line && !files.length) return;
  const { app } = here.state;
  if (line.startsWith("/")) {
    if (files.length) { byId("trouble").textContent = "As in Slack, slash commands take no files: mention the app instead."; return; }
    const [name] = line.split(/\s/, 1);
    if (thread) { byId("trouble").textContent = "As in Slack, slash commands do not work inside a thread: mention the app instead."; return; }
    await post("slash", { channel: here.place, command: name, text: line.slice(name.length).trim() });
    return;
  }
  const found = await post("say", { channel: here.place, thread, text: line.replaceAll(`@${app.name}`, `<@${app.bot_user}>`),
    files: await Promise.all(files.map(encoded)) });
  if (!thread && found.ts && found.addressed) openThread(found.ts);
}

function composer(formId, fieldId, thread) {
  const field = byId(fieldId);
  const submit = (event) => {
    event.preventDefault();
    const text = field.value;
    const chosen = byId(`${fieldId}-files`);
    const files = [...chosen.files];
    field.value = chosen.value = "";
    send(text, thread(), files);
  };
  byId(formId).addEventListener("submit", submit);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  });
}

composer("composer", "composer-text", () => null);
composer("thread-composer", "thread-text", () => here.thread);
byId("close-thread").addEventListener("click", () => { here.thread = null; draw(); byId("composer-text").focus(); });
byId("who").addEventListener("change", (event) => { here.user = event.target.value; here.place = null; here.thread = null; refresh(); });
byId("modal").addEventListener("cancel", (event) => { event.preventDefault(); closeModal(); });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && here.thread && !byId("modal").open) byId("close-thread").click();
});

await refresh();
if (here.place === "home") await post("home", { tab: "home" });
new EventSource("/page/events").addEventListener("message", refresh);
document.body.dataset.ready = "yes";
