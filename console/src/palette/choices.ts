// What the palette offers for what somebody has typed.
import type { Who } from "../api";
import type { Query } from "../router";
import { views } from "../views";

/** Choice is a place to go to, or an act. */
export type Choice = { id: string; name: string; icon: string; hint: string; to?: [string, Query?]; act?: string };

/** jumps are the letters that lead to views after a g. */
export const jumps: Record<string, string> = {
  o: "/",
  d: "/data",
  c: "/cli",
  m: "/messages",
  l: "/dead",
  q: "/queues",
  s: "/schedules",
  r: "/runs",
  n: "/cluster",
  a: "/access",
};

const letters = Object.fromEntries(Object.entries(jumps).map(([letter, path]) => [path, `g ${letter}`]));

const acts = (me: Who): Choice[] => [
  ...(me.messages === "all"
    ? [
        {
          id: "publish",
          name: "Publish a message",
          icon: "plus",
          hint: "",
          to: ["/messages", { publish: "1" }] as [string, Query],
        },
      ]
    : []),
  { id: "theme", name: "Change the theme", icon: "sun", hint: "", act: "theme" },
  { id: "help", name: "Keyboard shortcuts", icon: "info", hint: "?", act: "help" },
  { id: "out", name: "Sign out", icon: "out", hint: "", act: "out" },
];

/** named are views and acts whose name has every word of the text. */
function named(text: string, me: Who): Choice[] {
  const places = views
    .filter((v) => v.may(me))
    .map((v): Choice => ({ id: v.path, name: v.name, icon: v.icon, hint: letters[v.path] ?? "", to: [v.path] }));
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  return [...places, ...acts(me)].filter((c) => wanted.every((w) => c.name.toLowerCase().includes(w)));
}

/** guessed are what the text itself may be: an id, a URL, a label, a key. */
function guessed(text: string, me: Who): Choice[] {
  const list: Choice[] = [];
  const offer = (icon: string, name: string, to: [string, Query]) =>
    list.push({ id: `${name}:${text}`, name, icon, hint: text, to });
  if (me.messages !== "") {
    if (/^msg_/.test(text)) offer("messages", "Open the message", ["/messages", { id: text }]);
    if (/^wfr_/.test(text)) offer("runs", "Open the run", ["/runs", { id: text }]);
    if (/^\d+-\d+$/.test(text)) offer("dead", "Open the dead letter", ["/dead", { id: text }]);
    if (/^https?:/.test(text)) offer("messages", "Messages to the URL", ["/messages", { url: text }]);
    offer("messages", "Messages with the label", ["/messages", { label: text }]);
    offer("runs", "Runs with the label", ["/runs", { label: text }]);
  }
  if (me.keyspace) offer("data", "Keys that begin with", ["/data", { prefix: text }]);
  return list;
}

/** choices are what is offered, with keys that were found. */
export function choices(text: string, me: Who, keys: string[]): Choice[] {
  text = text.trim();
  if (!text) return named("", me);
  const found = keys.map(
    (k): Choice => ({ id: `key:${k}`, name: "Key", icon: "key", hint: k, to: ["/data", { key: k }] }),
  );
  return [...named(text, me), ...found, ...guessed(text, me)];
}
