// What a list of elements shows: those of a name, those of a range.
import { useState } from "preact/hooks";
import { Button, Field, Text } from "../ui/controls";

/** Find asks for some texts, and tells of them when somebody submits, or empties one. */
export function Find({
  of,
  set,
}: {
  of: { label: string; value: string; hint?: string }[];
  set: (texts: string[]) => void;
}) {
  const [texts, put] = useState(of.map((f) => f.value));
  return (
    <form
      class="filters within"
      onSubmit={(e) => {
        e.preventDefault();
        set(texts);
      }}
    >
      {of.map((f, i) => (
        <Field key={f.label} label={f.label}>
          <Text
            type="search"
            value={texts[i]}
            placeholder={f.hint}
            onText={(t) => {
              const all = texts.with(i, t);
              put(all);
              if (!t) set(all);
            }}
          />
        </Field>
      ))}
      <Button type="submit">Filter</Button>
    </form>
  );
}
