import { readFileSync } from "node:fs";

/** Version of this package. `package.json` is one folder up, both from the source and from the bundle. */
export const version: string = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
).version;
