// Filters of messages, dead letters and runs, which stand in the URL.
import { useEffect, useState } from "preact/hooks";
import { go, query } from "../router";
import { Button, Choose, Field, Text } from "../ui/controls";
import { Presets } from "./presets";

/** Filters edits the filters that stand in the URL. */
export function Filters({
  of,
  stateNames,
  at,
  keep = [],
}: {
  of: [string, string, string?][];
  stateNames?: string[];
  at: string;
  keep?: string[]; // of the URL, beside the filters
}) {
  const q = query.value;
  const now = () =>
    Object.fromEntries(
      [...q].filter(([n]) => of.some(([f]) => f === n) || ["state", "fromDate", "toDate", ...keep].includes(n)),
    );
  const [form, put] = useState<Record<string, string>>(now());
  const [all, open] = useState(
    Object.keys(now()).some((n) => !["state", ...keep, of[0][0], of[1][0], of[2]?.[0]].includes(n)),
  );
  useEffect(() => put(now()), [q]);
  const set = (n: string) => (t: string) => put((f) => ({ ...f, [n]: t }));
  const local = (ms?: string) =>
    ms ? new Date(Number(ms) - new Date().getTimezoneOffset() * 60000).toISOString().slice(0, 16) : "";
  return (
    <form
      class="filters"
      onSubmit={(e) => {
        e.preventDefault();
        go(at, form);
      }}
    >
      {stateNames && (
        <Field label="State">
          <Choose
            value={form.state ?? ""}
            of={[["", "Every state"], ...stateNames.map((s) => [s, s] as [string, string])]}
            onText={(t) => {
              set("state")(t);
              go(at, { ...form, state: t });
            }}
          />
        </Field>
      )}
      {of.slice(0, all ? 99 : 3).map(([n, label]) => (
        <Field key={n} label={label}>
          <Text value={form[n] ?? ""} onText={set(n)} />
        </Field>
      ))}
      {all &&
        ["fromDate", "toDate"].map((n) => (
          <Field key={n} label={n === "fromDate" ? "From" : "To"}>
            <input
              type="datetime-local"
              value={local(form[n])}
              onInput={(e) => set(n)(e.currentTarget.value ? String(new Date(e.currentTarget.value).getTime()) : "")}
            />
          </Field>
        ))}
      <Button type="submit">Find</Button>
      <Presets
        pick={(from) => {
          open(true);
          go(at, { ...form, fromDate: from, toDate: undefined });
        }}
      />
      {of.length > 3 && (
        <Button kind="quiet" onClick={() => open(!all)}>
          {all ? "Fewer filters" : "More filters"}
        </Button>
      )}
      {[...q].length > 0 && (
        <Button kind="quiet" onClick={() => go(at)}>
          Clear
        </Button>
      )}
    </form>
  );
}
export const chosen = (names: string[]) => {
  const p = new URLSearchParams();
  for (const [n, v] of query.value)
    if (v && (names.includes(n) || ["state", "fromDate", "toDate"].includes(n))) p.set(n, v);
  return p;
};
