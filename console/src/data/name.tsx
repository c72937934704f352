// For who may not list keys: a key is opened by its name.
import { useState } from "preact/hooks";
import { enc, plain } from "../api";
import { Button, Field, Text } from "../ui/controls";
import { Empty } from "../ui/layout";

export function ByName({ why, open }: { why: string; open: (key: string) => void }) {
  const [name, call] = useState("");
  return (
    <>
      <Empty icon="lock" title="Your credential may not list keys">
        <bdi>{plain(why)}</bdi>. A key that it may read can be opened by its name.
      </Empty>
      <form
        class="filters by-name"
        onSubmit={(e) => {
          e.preventDefault();
          open(enc(name));
        }}
      >
        <Field label="Name of a key">
          <Text value={name} onText={call} required />
        </Field>
        <Button type="submit" kind="main">
          Open
        </Button>
      </form>
    </>
  );
}
