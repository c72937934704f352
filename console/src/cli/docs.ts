// What COMMAND DOCS says of the commands of the node.
import { list, type Reply, run, str, strs } from "../api";

export type Doc = { summary: string; group: string; syntax: string };
const map = (r: Reply) => {
  const v = list(r),
    out: Record<string, Reply> = {};
  for (let i = 0; i + 1 < v.length; i += 2) out[str(v[i])] = v[i + 1];
  return out;
};

function syntax(args: Reply | undefined): string {
  return list(args)
    .map((one) => {
      const a = map(one),
        flags = strs(a.flags),
        token = str(a.token),
        type = str(a.type),
        name = str(a.name) || str(a.display_text);
      let t =
        type === "pure-token"
          ? token
          : type === "oneof"
            ? list(a.arguments)
                .map((x) => syntaxOne(x))
                .join(" | ")
            : type === "block"
              ? syntax(a.arguments)
              : (token ? `${token} ` : "") + name;
      if (token && (type === "oneof" || type === "block")) t = `${token} ${t}`;
      if (type === "oneof" && !flags.includes("optional")) t = `<${t}>`;
      if (flags.includes("multiple")) t += " …";
      return flags.includes("optional") ? `[${t}]` : t;
    })
    .join(" ");
}
const syntaxOne = (r: Reply) => syntax({ t: "list", v: [r] }).replace(/^\[|\]$/g, "");

/** Docs of every command, by its name in capitals; subcommands stand with their command. */
export async function load(): Promise<Map<string, Doc>> {
  const all = new Map<string, Doc>();
  const take = (r: Reply) => {
    const v = list(r);
    for (let i = 0; i + 1 < v.length; i += 2) {
      const d = map(v[i + 1]);
      all.set(str(v[i]).replace("|", " ").toUpperCase(), {
        summary: str(d.summary),
        group: str(d.group),
        syntax: syntax(d.arguments),
      });
      if (d.subcommands) take(d.subcommands);
    }
  };
  take(await run("COMMAND", "DOCS"));
  return all;
}
