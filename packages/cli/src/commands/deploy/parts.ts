import { generatedConfig, type Plan } from "@sluice/project/generate/plan";
import { canonicalJson } from "@sluice/protocol";

/** A Worker of a deployment, the broker included. */
export interface Part {
  readonly name: string;
  readonly isBroker: boolean;
  /** Names of the other parts that it is bound to, each once. */
  readonly needs: readonly string[];
  /** Folder of the project that it is made of. Absolute. */
  readonly directory: string;
  /** Configuration that it is deployed with. */
  readonly configFile: string;
  /** Text of that configuration. */
  readonly config: string;
}

/** The Workers of a plan, with what each is bound to. The broker is the last one. */
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

/** The configuration of a part without its service bindings to the Workers named. */
export function withoutServices({ config }: Part, workers: readonly string[]): string {
  const parsed = JSON.parse(config) as { services?: readonly { readonly service: string }[] };
  const services = (parsed.services ?? []).filter(({ service }) => !workers.includes(service));
  return canonicalJson({ ...parsed, services });
}
