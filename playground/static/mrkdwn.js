// Slack's two mark-up dialects as DOM nodes. Text never becomes HTML: nothing that a message says can run.

const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };
const decode = (text) => text.replace(/&(?:amp|lt|gt);/g, (found) => ENTITIES[found]);

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

const safe = (url) => (/^(https?:\/\/|mailto:|\/)/.test(url) ? url : null);

function anchor(url, label) {
  const target = safe(decode(url));
  return target ? el("a", { href: target, target: "_blank", rel: "noopener noreferrer" }, label) : label;
}

const SPAN = /`([^`\n]+)`|<([^>\n]+)>|(?<![\p{L}\p{N}*])\*(?=\S)([^*\n]+?)\*(?![\p{L}\p{N}])|(?<![\p{L}\p{N}_])_(?=\S)([^_\n]+?)_(?![\p{L}\p{N}])|(?<![\p{L}\p{N}~])~(?=\S)([^~\n]+?)~(?![\p{L}\p{N}])/gu;

function angled(inside, names) {
  const [target, label] = inside.split("|");
  if (target.startsWith("@")) return el("span", { class: "mention" }, "@" + (names(target.slice(1)) || label || target.slice(1)));
  if (target.startsWith("#")) return el("span", { class: "mention" }, "#" + (names(target.slice(1)) || label || target.slice(1)));
  if (target.startsWith("!")) return el("span", { class: "mention" }, label || "@" + target.slice(1));
  return anchor(target, decode(label || target));
}

function spans(text, names) {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(SPAN)) {
    nodes.push(decode(text.slice(from, match.index)));
    const [whole, code, angle, strong, emphasis, struck] = match;
    if (code !== undefined) nodes.push(el("code", {}, decode(code)));
    else if (angle !== undefined) nodes.push(angled(angle, names));
    else if (strong !== undefined) nodes.push(el("strong", {}, ...spans(strong, names)));
    else if (emphasis !== undefined) nodes.push(el("em", {}, ...spans(emphasis, names)));
    else nodes.push(el("s", {}, ...spans(struck, names)));
    from = match.index + whole.length;
  }
  nodes.push(decode(text.slice(from)));
  return nodes.filter((node) => node !== "");
}

function lines(text, names) {
  const nodes = [];
  text.split("\n").forEach((line, n) => {
    const quoted = line.match(/^(?:&gt;|>)\s?(.*)$/);
    if (quoted) nodes.push(el("blockquote", {}, ...spans(quoted[1], names)));
    else nodes.push(...(n && !(nodes.at(-1) instanceof HTMLQuoteElement) ? [el("br")] : []), ...spans(line, names));
  });
  return nodes;
}

export function mrkdwn(text, names = () => null) {
  return text.split("```").flatMap((part, n, parts) => {
    if (n % 2 === 1) return [el("pre", { tabindex: "0" }, el("code", {}, decode(part.replace(/^\n|\n$/g, ""))))];
    const before = n > 0 ? part.replace(/^\n/, "") : part;
    return lines(n < parts.length - 1 ? before.replace(/\n$/, "") : before, names);
  });
}

export function textObject(object, names) {
  if (!object) return [];
  return object.type === "mrkdwn" ? mrkdwn(object.text, names) : [object.text];
}

const MARKDOWN_SPAN = /`([^`\n]+)`|\[([^\]\n]+)\]\(([^)\s]+)\)|\*\*([^*\n]+)\*\*|(?<!\w)_([^_\n]+)_(?!\w)|\*([^*\n]+)\*/g;

function markdownSpans(text) {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(MARKDOWN_SPAN)) {
    nodes.push(text.slice(from, match.index));
    const [whole, code, label, url, strong, low, star] = match;
    if (code !== undefined) nodes.push(el("code", {}, code));
    else if (label !== undefined) nodes.push(anchor(url, label));
    else if (strong !== undefined) nodes.push(el("strong", {}, strong));
    else nodes.push(el("em", {}, low ?? star));
    from = match.index + whole.length;
  }
  return [...nodes, text.slice(from)].filter((node) => node !== "");
}

// Standard Markdown as the markdown block takes it: headings, lists, fences, emphasis.
export function markdown(text) {
  return text.split("```").flatMap((part, n) => {
    if (n % 2 === 1) return [el("pre", { tabindex: "0" }, el("code", {}, part.replace(/^\w*\n/, "").replace(/\n$/, "")))];
    return part.split(/\n\s*\n/).filter((each) => each.trim()).map((paragraph) => {
      const heading = paragraph.match(/^(#{1,6})\s+(.*)$/);
      if (heading) return el("h4", {}, ...markdownSpans(heading[2]));
      const rows = paragraph.split("\n");
      if (rows.every((row) => /^\s*[-*]\s/.test(row))) {
        return el("ul", {}, ...rows.map((row) => el("li", {}, ...markdownSpans(row.replace(/^\s*[-*]\s/, "")))));
      }
      return el("p", {}, ...rows.flatMap((row, m) => (m ? [el("br"), ...markdownSpans(row)] : markdownSpans(row))));
    });
  });
}
