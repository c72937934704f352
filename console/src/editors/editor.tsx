// A viewer and editor for every type.
import { Note } from "../ui/layout";
import { HashEditor } from "./hash";
import { JsonEditor } from "./json";
import { ListEditor } from "./list";
import type { Props } from "./rows";
import { SetEditor } from "./set";
import { StreamEditor } from "./stream";
import { StringEditor } from "./string";
import { ZsetEditor } from "./zset";

export function Editor(p: Props) {
  switch (p.info.type) {
    case "string":
      return <StringEditor {...p} />;
    case "ReJSON-RL":
      return <JsonEditor {...p} />;
    case "hash":
      return <HashEditor {...p} />;
    case "list":
      return <ListEditor {...p} />;
    case "set":
      return <SetEditor {...p} />;
    case "zset":
      return <ZsetEditor {...p} />;
    case "stream":
      return <StreamEditor {...p} />;
  }
  return <Note>This console can't show values of the type {p.info.type}. The command line can.</Note>;
}
