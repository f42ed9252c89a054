import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { PROTOCOL_VERSION } from "@sluice/protocol";
import { CliError } from "../../errors.ts";
import { ownFolder } from "../../wrangler/leftovers.ts";
import type { RunWrangler } from "../../wrangler/run-wrangler.ts";
import { type Part, withoutServices } from "./parts.ts";
import type { Wanted } from "./steps.ts";

/** What Wrangler writes beside a bundle and never uploads as code. */
const NOT_CODE = /(?:\.map|^README\.md)$/;

/**
 * Bundles a part as a deployment would, and tells what it is made of by a tag: the same code, configuration and assets
 * have the same one. Secrets are no part of it.
 *
 * @throws CliError with what Wrangler says of a part that cannot be bundled. Nothing has been deployed then.
 */
export async function bundled(part: Part, wrangler: RunWrangler): Promise<Wanted> {
  const folder = ownFolder("bundle");
  try {
    const args = ["deploy", "--dry-run", "--config", part.configFile, "--outdir", folder];
    const { code, all } = await wrangler(args);
    if (code !== 0) throw new CliError(`"${part.name}" cannot be deployed. Wrangler says:\n${all}`);
    const files = [...filesIn(folder)].filter(([name]) => !NOT_CODE.test(name));
    const contents = [...files, ...assetsOf(part)];
    return {
      part,
      tag: tagOf(contents, part.config),
      tagWithout: (workers) => tagOf(contents, withoutServices(part, workers)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** 22 characters: a version's tag may have 25. It says the protocol as well (`protocolOf`). */
function tagOf(contents: readonly (readonly [name: string, bytes: Buffer])[], config: string): string {
  const hash = createHash("sha256").update(config);
  for (const [name, bytes] of contents) hash.update(`\0${name}\0${bytes.length}\0`).update(bytes);
  return `sluice-p${PROTOCOL_VERSION}-${hash.digest("hex").slice(0, 12)}`;
}

function assetsOf({ config, configFile }: Part): [string, Buffer][] {
  const { assets } = JSON.parse(config) as { assets?: { directory?: string } };
  const directory = assets?.directory;
  if (directory === undefined) return [];
  return [...filesIn(resolve(dirname(configFile), directory))].map(([name, bytes]) => [
    `assets/${name}`,
    bytes,
  ]);
}

/** All files below a folder in the order of their names. */
function* filesIn(folder: string): Generator<[name: string, bytes: Buffer]> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  for (const name of names) {
    const file = join(folder, name);
    if (statSync(file).isFile()) yield [relative(folder, file), readFileSync(file)];
  }
}
