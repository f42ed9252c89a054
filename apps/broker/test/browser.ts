import { existsSync } from "node:fs";
import path from "node:path";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/**
 * Finds a Chromium: by `CHROMIUM` in the environment, else the first on the path, else Playwright's own; `null` for
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

/** Starts a browser without a window, and without the sandbox, which a container has no rights for. */
export function startBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
