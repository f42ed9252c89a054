import { migrationsAfter } from "@sluice/project/generate/broker-config";
import { generatedConfig, type Plan } from "@sluice/project/generate/plan";
import { canonicalJson } from "@sluice/protocol";
import type { Unstable_Config } from "wrangler";

/** A Worker that a deployment uploads; the broker is one too. */
export interface Part {
  readonly name: string;
  readonly isBroker: boolean;
  /** Names of the other parts that it is bound to, without repetition. */
  readonly needs: readonly string[];
  /** Absolute path of the Worker's folder in the project. */
  readonly directory: string;
  /** Path of the configuration that it is deployed with. */
  readonly configFile: string;
  /** Text of that configuration. */
  readonly config: string;
}

/** Turns a plan into parts, the broker last. Each part names the other parts that its bindings lead to. */
export function partsOf({ workers, broker }: Plan): Part[] {
  const all = [...workers, broker];
  const names = new Set(all.map(({ name }) => name));
  return all.map((generated) => {
    const { name, configFile } = generated;
    const config = generatedConfig(generated);
    const targets = [
      ...(config.services ?? []).map(({ service }) => service),
      ...(config.durable_objects?.bindings ?? []).flatMap(({ script_name }) => script_name ?? []),
      ...(config.tail_consumers ?? []).map(({ service }) => service),
    ];
    const needs = [...new Set(targets)].filter((target) => target !== name && names.has(target));
    const { userDirectory: directory } = generated;
    const isBroker = generated === broker;
    return { name, isBroker, needs, directory, configFile, config: canonicalJson(config) };
  });
}

/** Returns a part's configuration without its service bindings to the named Workers. */
export function withoutServices({ config }: Part, workers: readonly string[]): string {
  const parsed = JSON.parse(config) as { services?: readonly { readonly service: string }[] };
  const services = (parsed.services ?? []).filter(({ service }) => !workers.includes(service));
  return canonicalJson({ ...parsed, services });
}

/**
 * Returns the configuration of a broker that is on an account.
 *
 * @param config text of a configuration.
 * @param last tag of the broker's last migration there.
 */
export function afterMigration(config: string, last: string): string {
  const parsed = JSON.parse(config) as Pick<Unstable_Config, "migrations">;
  return canonicalJson({ ...parsed, migrations: migrationsAfter(last, parsed.migrations) });
}
