// Views are URLs: the path names the view, the query what it shows.
import { signal } from "@preact/signals";
import { base } from "./api";

export const path = signal("");
export const query = signal(new URLSearchParams());

function read() {
  path.value = location.pathname.startsWith(base) ? location.pathname.slice(base.length) || "/" : "/";
  query.value = new URLSearchParams(location.search);
}
read();
addEventListener("popstate", read);

export type Query = Record<string, string | undefined>;

export const href = (to: string, q?: Query) => {
  const p = new URLSearchParams();
  for (const [name, value] of Object.entries(q ?? {})) if (value) p.set(name, value);
  const text = p.toString();
  return base + to + (text ? `?${text}` : "");
};

export function go(to: string, q?: Query, replace = false) {
  const url = href(to, q);
  if (url === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  const from = path.value;
  read();
  if (path.value !== from) scrollTo(0, 0);
}

/** set changes parts of the query and keeps the others. */
export function set(q: Query, replace = false) {
  go(path.value, { ...Object.fromEntries(query.value), ...q }, replace);
}

/** click makes links of this console change the view without loading the page. */
export function click(e: MouseEvent) {
  const a = (e.target as Element).closest?.("a");
  if (
    !a ||
    e.defaultPrevented ||
    e.button ||
    e.metaKey ||
    e.ctrlKey ||
    e.shiftKey ||
    a.target ||
    a.hasAttribute("download") ||
    a.getAttribute("href")?.startsWith("#")
  )
    return;
  const url = new URL(a.href);
  if (
    url.origin !== location.origin ||
    !url.pathname.startsWith(`${base}/`) ||
    url.pathname.startsWith(`${base}/api/`) ||
    url.pathname.startsWith(`${base}/oidc/`)
  )
    return;
  e.preventDefault();
  go(url.pathname.slice(base.length), Object.fromEntries(url.searchParams));
}
