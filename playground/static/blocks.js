// Block Kit → DOM: one renderer for messages, the Home tab and modals.
// `act(blockIndex, elementIndex | "accessory", extra)` reports what a person did; `names` turns ids into names.

import { el, markdown, mrkdwn, textObject } from "./mrkdwn.js";

export function renderBlocks(blocks, view) {
  return blocks.map((block, n) => {
    const draw = BLOCKS[block.type];
    return draw ? draw(block, n, view) : el("p", { class: "unknown" }, `This page cannot draw a block of type ${block.type}.`);
  });
}

const BLOCKS = {
  section: (block, n, view) =>
    el("div", { class: "block section" },
      el("div", { class: "section-text" }, ...textObject(block.text, view.names),
        block.fields ? el("div", { class: "fields" }, ...block.fields.map((field) => el("div", {}, ...textObject(field, view.names)))) : null),
      block.accessory ? el("div", { class: "accessory" }, element(block.accessory, n, "accessory", block, view)) : null),
  header: (block) => el("h3", { class: "block" }, block.text.text),
  divider: () => el("hr", { class: "block" }),
  context: (block, n, view) =>
    el("div", { class: "block context" }, ...block.elements.map((part) =>
      part.type === "image" ? image(part) : el("span", {}, ...textObject(part, view.names)))),
  actions: (block, n, view) =>
    el("div", { class: "block actions" }, ...block.elements.map((part, m) => element(part, n, m, block, view))),
  context_actions: (block, n, view) =>
    el("div", { class: "block actions quiet" }, ...block.elements.map((part, m) => element(part, n, m, block, view))),
  image: (block) =>
    el("figure", { class: "block" }, block.title ? el("figcaption", {}, block.title.text) : null, image(block)),
  markdown: (block) => el("div", { class: "block markdown" }, ...markdown(block.text)),
  rich_text: (block, n, view) => el("div", { class: "block" }, ...block.elements.map((part) => rich(part, view))),
  table: (block, n, view) => table(block, view),
  input: (block, n, view) => input(block, n, view),
};

function image(part) {
  const source = part.image_url || (part.slack_file && (part.slack_file.url || `/page/files/${part.slack_file.id}`));
  return el("img", { src: source, alt: part.alt_text, loading: "lazy" });
}

function rich(part, view) {
  const inner = () => (part.elements || []).flatMap((child) => richSpan(child, view));
  if (part.type === "rich_text_list") {
    return el(part.style === "ordered" ? "ol" : "ul", {}, ...part.elements.map((item) => el("li", {}, rich(item, view))));
  }
  if (part.type === "rich_text_preformatted") return el("pre", { tabindex: "0" }, el("code", {}, ...inner()));
  return el(part.type === "rich_text_quote" ? "blockquote" : "div", {}, ...inner());
}

function richSpan(part, view) {
  const words = {
    text: () => part.text, link: () => el("a", { href: part.url, rel: "noopener noreferrer" }, part.text || part.url),
    user: () => el("span", { class: "mention" }, "@" + (view.names(part.user_id) || part.user_id)), emoji: () => `:${part.name}:`,
  };
  let node = (words[part.type] || (() => ""))();
  for (const [style, tag] of [["bold", "strong"], ["italic", "em"], ["strike", "s"], ["code", "code"]]) {
    if (part.style?.[style]) node = el(tag, {}, node);
  }
  return [node];
}

function table(block, view) {
  const [head, ...rows] = block.rows;
  const settings = block.column_settings || [];
  const cell = (tag, part, m) =>
    el(tag, { scope: tag === "th" ? "col" : undefined, class: settings[m]?.align === "right" ? "right" : undefined },
      ...(part.type === "rich_text" ? part.elements.map((each) => rich(each, view)) : [String(part.text ?? part.value)]));
  return el("div", { class: "block table", tabindex: "0", role: "region", "aria-label": "Table" },
    el("table", {}, el("thead", {}, el("tr", {}, ...head.map((part, m) => cell("th", part, m)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((part, m) => cell("td", part, m)))))));
}

function element(part, n, m, block, view) {
  const draw = ELEMENTS[part.type];
  return draw ? draw(part, n, m, block, view) : el("span", { class: "unknown" }, part.type);
}

const asked = (part) => !part.confirm || window.confirm(`${part.confirm.title.text}\n\n${part.confirm.text.text}`);

const ELEMENTS = {
  button: (part, n, m, block, view) =>
    part.url
      ? el("a", { class: "button", href: part.url, target: "_blank", rel: "noopener noreferrer" }, part.text.text)
      : el("button", { type: "button", class: part.style || "", "aria-label": part.accessibility_label, "data-action": part.action_id,
          onclick: () => asked(part) && view.act(n, m, {}) }, part.text.text),
  static_select: (part, n, m, block, view) => {
    const label = part.placeholder?.text || "Choose";
    return el("select", { "aria-label": label, "data-action": part.action_id,
      onchange: (event) => event.target.value && view.act(n, m, { option: event.target.selectedIndex - 1 }) },
      el("option", { value: "" }, label),
      ...part.options.map((option) => el("option", { value: option.value, selected: same(option, part.initial_option) }, option.text.text)));
  },
  overflow: (part, n, m, block, view) => ELEMENTS.static_select({ ...part, placeholder: { text: "⋯" } }, n, m, block, view),
  feedback_buttons: (part, n, m, block, view) =>
    el("span", { class: "feedback" }, ...["positive_button", "negative_button"].map((name) =>
      el("button", { type: "button", "data-action": part.action_id, "aria-label": part[name].accessibility_label,
        onclick: () => view.act(n, m, { value: part[name].value }) },
        el("span", { "aria-hidden": "true" }, name === "positive_button" ? "✓ " : "✗ "), part[name].text.text))),
  icon_button: (part, n, m, block, view) =>
    el("button", { type: "button", "data-action": part.action_id, onclick: () => view.act(n, m, {}) }, part.text.text),
  image: (part) => image(part),
};

const same = (option, chosen) => Boolean(chosen && chosen.value === option.value);

// Inputs of a modal. Each registers a function that reads its value as Slack nests it.
function input(block, n, view) {
  const part = block.element;
  const id = `input-${block.block_id || n}`;
  const [control, read] = (INPUTS[part.type] || INPUTS.plain_text_input)(part, id, block, view);
  view.read(block.block_id, part.action_id, () => ({ type: part.type, ...read() }));
  const error = view.errors?.[block.block_id];
  if (error) { control.setAttribute("aria-invalid", "true"); control.setAttribute("aria-describedby", `${id}-error`); }
  return el("div", { class: "block input" },
    el("label", { for: id }, block.label.text, block.optional ? el("span", { class: "optional" }, " (optional)") : null), control,
    error ? el("p", { class: "error", id: `${id}-error`, role: "alert" }, error) : null,
    block.hint ? el("p", { class: "hint" }, block.hint.text) : null);
}

const text = (part, id, block) => {
  const tag = part.multiline ? "textarea" : "input";
  const type = part.type === "number_input" ? "number" : "text";
  const control = el(tag, { id, type: tag === "input" ? type : undefined, placeholder: part.placeholder?.text, required: !block.optional,
    step: part.is_decimal_allowed ? "any" : undefined, min: part.min_value, max: part.max_value, maxlength: part.max_length, rows: part.multiline ? 3 : undefined });
  control.value = part.initial_value ?? "";
  return [control, () => ({ value: control.value.trim() === "" ? null : control.value })];
};

const chosenFrom = (options, control) => [...control.querySelectorAll("input:checked")].map((box) => options[Number(box.value)]);

function boxes(part, id, kind, chosen) {
  const control = el("div", { id, role: kind === "radio" ? "radiogroup" : "group", class: "boxes" }, ...part.options.map((option, n) =>
    el("label", {}, el("input", { type: kind, name: id, value: n, checked: chosen.some((each) => same(option, each)) }), " ", option.text.text)));
  return control;
}

const INPUTS = {
  plain_text_input: text,
  number_input: text,
  static_select: (part, id, block) => {
    const control = el("select", { id, required: !block.optional }, el("option", { value: "" }, part.placeholder?.text || "–"),
      ...part.options.map((option, n) => el("option", { value: n, selected: same(option, part.initial_option) }, option.text.text)));
    return [control, () => ({ selected_option: control.value === "" ? null : part.options[Number(control.value)] })];
  },
  radio_buttons: (part, id) => {
    const control = boxes(part, id, "radio", part.initial_option ? [part.initial_option] : []);
    return [control, () => ({ selected_option: chosenFrom(part.options, control)[0] || null })];
  },
  checkboxes: (part, id) => {
    const control = boxes(part, id, "checkbox", part.initial_options || []);
    return [control, () => ({ selected_options: chosenFrom(part.options, control) })];
  },
  multi_static_select: (part, id) => INPUTS.checkboxes(part, id),
  multi_conversations_select: (part, id, block, view) => {
    const known = part.initial_conversations || [];
    const options = view.channels.map((channel) => ({ text: { text: `#${channel.name}` }, value: channel.id }));
    const control = boxes({ options }, id, "checkbox", known.map((value) => ({ value })));
    return [control, () => ({ selected_conversations: chosenFrom(options, control).map((option) => option.value) })];
  },
};
