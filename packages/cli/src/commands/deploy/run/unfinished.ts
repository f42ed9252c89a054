import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "@sluice/project/folders";

/**
 * Keeps the names of the Workers whose upload has begun on this machine and not ended. The next run deploys them again,
 * since Wrangler changes several things after an upload and Cloudflare's API does not say whether all of them are done.
 * The file is a contract: other releases read it.
 */
export class Unfinished {
  readonly #file: string;
  readonly #names: Set<string>;

  /** @param accessFile file with the broker's address, in whose folder the names are kept. */
  constructor(accessFile: string) {
    this.#file = accessFile.replace(/\.env$/, ".unfinished");
    this.#names = new Set(read(this.#file));
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  begin(name: string): void {
    this.#names.add(name);
    this.#write();
  }

  end(name: string): void {
    this.#names.delete(name);
    this.#write();
  }

  #write(): void {
    const text = [...this.#names].map((name) => `${name}\n`).join("");
    if (text === "") rmSync(this.#file, { force: true });
    else {
      makeFolder(dirname(this.#file), 0o700);
      writeFileSync(this.#file, text);
    }
  }
}

function read(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
