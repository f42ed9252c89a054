import { stripVTControlCharacters } from "node:util";
import { ownSecretsLines, type PlacedSecrets, secretsPath } from "@sluice/project/files/secrets-lines";
import { showConsoleThrough } from "./console.ts";

const placed = new Set<PlacedSecrets>();
let restore = () => {};

/**
 * Has Wrangler's lines about files of secrets name the user's own files, where Wrangler runs in this process. The
 * console is as it was when all have given that back.
 */
export function nameSecrets(secrets: PlacedSecrets): Disposable {
  if (placed.size === 0) restore = showConsoleThrough(console, ownLines);
  placed.add(secrets);
  return {
    [Symbol.dispose]() {
      if (placed.delete(secrets) && placed.size === 0) restore();
    },
  };
}

function ownLines(message: string): readonly string[] {
  const path = secretsPath(stripVTControlCharacters(message));
  return path === null ? [message] : ownSecretsLines(message, path, [...placed], process.cwd());
}
