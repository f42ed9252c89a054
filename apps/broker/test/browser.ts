import { existsSync } from "node:fs";
import path from "node:path";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/**
 * Where a Chromium is: what `CHROMIUM` in the environment says, the first on the path, or Playwright's own; `null` for
 * none.
 */
export function findChromium(): string | null {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const candidates = [
    process.env.CHROMIUM ?? "",
    ...NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name))),
    chromium.executablePath(),
  ];
  return candidates.find((candidate) => candidate !== "" && existsSync(candidate)) ?? null;
}

/**
 * Starts it without a window. Its sandbox needs rights that a container has not, and it opens nothing but our own page.
 */
export function startBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
