// What the API answers, as its OpenAPI documents have it: src/openapi is generated from them by `npm run types`.
import type { components as admin } from "./openapi/admin";
import type { components as messages } from "./openapi/messages";

export type Messages = messages["schemas"];
export type Admin = admin["schemas"];
