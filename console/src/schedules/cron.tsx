// The next times of cron expressions, in a zone of somebody's choice.
import { useState } from "preact/hooks";
import { json } from "../api";
import { Choose, Field } from "../ui/controls";
import { useLoad } from "../ui/load";
import { Ago } from "../ui/time";
import { inWords } from "./in-words";

const here = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Times are the next times of a schedule, or of an expression, in a zone that can be chosen. */
export function Times({ of, zone: own = "UTC" }: { of: number[]; zone?: string }) {
  const [zone, put] = useState(here),
    first = [...new Set([own, here, "UTC"])];
  return (
    <>
      <Field label="Show in">
        <Choose
          of={[...first, ...Intl.supportedValuesOf("timeZone").filter((z) => !first.includes(z))]}
          value={zone}
          onText={put}
        />
      </Field>
      <ol class="times">
        {of.map((t) => (
          <li key={t}>
            {new Date(t).toLocaleString("sv", { timeZone: zone })}{" "}
            <span class="dim">
              (<Ago at={t} />)
            </span>
          </li>
        ))}
      </ol>
      {!of.length && <p class="dim">None: it is paused, or its expression has no more times.</p>}
    </>
  );
}

type Next = { timeZone: string; times: number[] };

/** Preview says what an expression means while somebody types it, and its next times. */
export function Preview({ of }: { of: string }) {
  const text = inWords(of);
  const next = useLoad<Next | null>(
    async () => (text ? json(`/v2/cron?expression=${encodeURIComponent(of)}`, { poll: true }) : null),
    [of],
  );
  const wrong = text ? next.error?.message : "A cron expression has five fields, or is like @daily or @every 30s";
  return (
    <section class="preview" aria-live="polite">
      {text && <p>{text}.</p>}
      {wrong && <p class="bad-text">{wrong}.</p>}
      {!wrong && next.data && <Times of={next.data.times} zone={next.data.timeZone} />}
    </section>
  );
}
