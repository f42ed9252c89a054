import { stripVTControlCharacters } from "node:util";
import { ownSecretsLines, type PlacedSecrets, secretsPath } from "@sluice/project/files/secrets-lines";
import { showConsoleThrough } from "./console.ts";

const placed = new Set<PlacedSecrets>();
/** Lines that have been shown and are not shown again; `null` if lines may repeat. */
let shown: Set<string> | null = null;
let restore: (() => void) | null = null;

/**
 * Makes Wrangler's lines about files of secrets name the user's own files instead of the placed copies, where Wrangler
 * runs in this process. The console is restored when all callers have disposed of their result.
 */
export function nameSecrets(secrets: PlacedSecrets): Disposable {
  restore ??= showConsoleThrough(console, ownLines);
  placed.add(secrets);
  return {
    [Symbol.dispose]() {
      if (!placed.delete(secrets) || placed.size > 0 || shown !== null) return;
      restore?.();
      restore = null;
    },
  };
}

/** Shows Wrangler's lines about files of secrets once for each file, until this process ends. */
export function nameSecretsOnce(): void {
  shown ??= new Set();
  restore ??= showConsoleThrough(console, ownLines);
}

function ownLines(message: string): readonly string[] {
  const path = secretsPath(stripVTControlCharacters(message));
  if (path === null) return [message];
  const lines = ownSecretsLines(message, path, [...placed], process.cwd());
  const before = shown;
  if (before === null) return lines;
  const fresh = lines.filter((line) => !before.has(line));
  for (const line of fresh) before.add(line);
  return fresh;
}
