import { dirname, join } from "node:path";
import { placeSecrets } from "@sluice/project/files/secrets";
import { writeIfChanged } from "@sluice/project/files/write-plan";
import { withoutReadKeys } from "@sluice/project/generate/worker-config";
import { serialisable } from "@sluice/project/wrangler/generated-config";
import { relocate } from "@sluice/project/wrangler/relocate";
import { wranglerDefaults } from "@sluice/project/wrangler/wrangler-config";
import type { Unstable_Config } from "wrangler";

/**
 * Writes the configuration from which Wrangler makes the proxies of all bindings but queues: the user's without queues.
 * With them Wrangler would make queues of its own, warn of our keys, and refuse pull consumers.
 *
 * @param file the user's configuration. Absolute.
 * @param config Wrangler's reading of it.
 * @param env the environment, "" for the top level.
 * @param directory folder that it is written into. Absolute.
 * @returns the absolute path of the configuration.
 */
export async function writeProxyConfig(
  file: string,
  config: Unstable_Config,
  env: string,
  directory: string,
): Promise<string> {
  const from = dirname(file);
  const relocated = relocate(config, { from, to: directory, workingDirectory: process.cwd() });
  // No code of the Worker is run.
  const reduced = { ...relocated, main: undefined, queues: { producers: [], consumers: [] } };
  const generated = serialisable(withoutReadKeys(reduced, "dev"), await wranglerDefaults());
  const configFile = join(directory, "wrangler.json");
  writeIfChanged(configFile, `${JSON.stringify(generated, null, 2)}\n`);
  placeSecrets(from, directory, env);
  return configFile;
}
