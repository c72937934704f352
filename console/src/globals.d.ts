/** DEVELOPMENT is true in the builds of dev.mjs. */
declare const DEVELOPMENT: boolean;
declare module "*.css";
