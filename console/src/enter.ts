import { database, ended, type Who, who } from "./api";
import { query } from "./router";

/** enter makes the page that of somebody who has signed in. */
export function enter(me: Who) {
  database.value = (me.admin && query.value.get("db")) || me.database || "default";
  who.value = me;
  ended.value = "";
}
