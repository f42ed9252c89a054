import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Returns the name in the nearest `package.json` with a name, at or above a folder; else the folder's own name. */
export function projectNameIn(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    const name = nameIn(join(at, "package.json"));
    if (name !== null) return name;
    if (dirname(at) === at) return basename(folder);
  }
}

function nameIn(file: string): string | null {
  try {
    const { name } = JSON.parse(readFileSync(file, "utf8")) as { name?: unknown };
    return typeof name === "string" && name !== "" ? name : null;
  } catch {
    return null;
  }
}
