// Backups that a browser keeps.
import { raw } from "../api";

/** download has the browser keep a backup. A link can't ask for one: the node wants the console's header. */
export async function download() {
  const at = URL.createObjectURL(await (await raw("/admin/backup")).blob());
  const a = Object.assign(document.createElement("a"), { href: at, download: "trireme.backup" });
  a.click();
  setTimeout(() => URL.revokeObjectURL(at), 60_000);
}
