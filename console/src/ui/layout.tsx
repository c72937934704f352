// The parts that views are laid out with: pages, cards, facts, tabs, notes.
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { href, type Query } from "../router";
import type { Kids } from "./controls";
import { Icon } from "./icons";

export function Empty({
  icon = "box",
  title,
  children,
  act,
}: Kids & { icon?: string; title: string; act?: ComponentChildren }) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <h3>{title}</h3>
      {children && <p>{children}</p>}
      {act}
    </div>
  );
}

export function Note({ kind = "info", children }: Kids & { kind?: "info" | "warn" | "bad" | "good" }) {
  return (
    <div class={`note ${kind}`} role={kind === "bad" ? "alert" : "status"}>
      <Icon name={kind === "good" ? "check" : kind === "info" ? "info" : "alert"} />
      <div>{children}</div>
    </div>
  );
}
export const Badge = ({ tone = "plain", children }: Kids & { tone?: string }) => (
  <span class={`badge ${tone}`}>{children}</span>
);
export const A = ({
  to,
  q,
  children,
  class: more,
  ...rest
}: Kids & { to: string; q?: Query; class?: string; [more: string]: unknown }) => (
  <a href={href(to, q)} class={more} {...rest}>
    {children}
  </a>
);
export function Tabs({
  of,
  now,
  to,
}: {
  of: [string, string][];
  now: string;
  to: (name: string) => Query | undefined;
}) {
  return (
    <nav class="tabs" aria-label="Parts of this view">
      {of.map(([name, text]) => (
        <a
          key={name}
          href={href(location.pathname.slice(new URL(document.baseURI).pathname.length - 1), to(name))}
          aria-current={now === name ? "page" : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  );
}

export function Page({
  title,
  sub,
  acts,
  children,
}: Kids & { title: string; sub?: ComponentChildren; acts?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · Trireme`;
  }, [title]);
  return (
    <>
      <header class="page-head">
        <div>
          <h1>{title}</h1>
          {sub && <p>{sub}</p>}
        </div>
        {acts && <div class="acts">{acts}</div>}
      </header>
      {children}
    </>
  );
}
export const Card = ({
  title,
  acts,
  children,
  class: more,
}: Kids & { title?: ComponentChildren; acts?: ComponentChildren; class?: string }) => (
  <section class={`card ${more ?? ""}`}>
    {(title || acts) && (
      <header>
        <h2>{title}</h2>
        {acts && <div class="acts">{acts}</div>}
      </header>
    )}
    {children}
  </section>
);
export const Facts = ({ of }: { of: [string, ComponentChildren][] }) => (
  <dl class="facts">
    {of
      .filter(([, v]) => v !== undefined && v !== "" && v !== null)
      .map(([k, v]) => (
        <div key={k}>
          <dt>{k}</dt>
          <dd>{v}</dd>
        </div>
      ))}
  </dl>
);
