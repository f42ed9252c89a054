import { readFileSync } from "node:fs";

/** Version of this package: `package.json` is one folder up, from source and from the bundle alike. */
export const version: string = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
).version;
