// What the list of keys shows.
import { useEffect, useState } from "preact/hooks";
import type { Query } from "../router";
import { Button, Choose, Field, Text } from "../ui/controls";
import { typeName, types } from "./types";

export function Filters({ pattern, type, set }: { pattern: string; type: string; set: (m: Query) => void }) {
  const [text, put] = useState(pattern);
  useEffect(() => put(pattern), [pattern]);
  return (
    <form
      class="filters"
      onSubmit={(e) => {
        e.preventDefault();
        set({ match: text || undefined });
      }}
    >
      <Field label="Name or pattern">
        <Text
          type="search"
          value={text}
          onText={(t) => {
            put(t);
            if (!t) set({ match: undefined });
          }}
          placeholder="user:* or a part of the name"
        />
      </Field>
      <Field label="Type">
        <Choose
          value={type}
          of={[["", "Every type"], ...types.map((t) => [t, typeName(t)] as [string, string])]}
          onText={(t) => set({ type: t || undefined })}
        />
      </Field>
      <Button type="submit">Find</Button>
    </form>
  );
}
