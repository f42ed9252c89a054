import type { Unstable_Config } from "wrangler";
import {
  BROKER_CLASS,
  BROKER_QUEUES_BINDING,
  CONSUMER_ENTRYPOINT,
  DIRECTORY_BINDING,
  DIRECTORY_CLASS,
  VERSION_BINDING,
} from "../names.ts";
import type { BrokerBase } from "../read/broker.ts";
import { type GeneratedConfig, serialisable } from "../wrangler/generated-config.ts";
import { relocate } from "../wrangler/relocate.ts";
import { checkSettings } from "./check-settings.ts";
import { type Purpose, settle } from "./worker-config.ts";

/** A Worker with a `queue()` handler, and the broker's service binding to it. */
export interface ConsumerBinding {
  readonly worker: string;
  readonly binding: string;
}

export interface BrokerConfigInput {
  readonly base: BrokerBase;
  readonly consumers: readonly ConsumerBinding[];
  readonly purpose: Purpose["kind"];
  /** Variables that it gets besides its own. */
  readonly vars: Readonly<Record<string, string>>;
  /** Folder that the configuration is written into, and the folder that the command runs in. Absolute. */
  readonly directory: string;
  readonly workingDirectory: string;
  readonly defaults: Unstable_Config;
  /** Its module, in the folder, and whether that is ready to run. */
  readonly main: { readonly file: string; readonly isReady: boolean };
}

/**
 * Compatibility date of a broker that has no configuration of its own: one that the workerd of the oldest Wrangler
 * (`WRANGLER_VERSION_MIN`) knows. A Worker of a newer date does not start there.
 */
export const BROKER_COMPATIBILITY_DATE = "2026-01-01";

/** Tells the broker of SQS clients that have stopped waiting for messages: otherwise they would be given some. */
export const BROKER_COMPATIBILITY_FLAG = "enable_request_signal";

/**
 * The broker's configuration: its own one where there is one, with its Durable Object classes, a service
 * binding to every consumer and the generated entry that knows the topology.
 *
 * @throws CliError for variables by which it would answer nobody.
 */
export function generateBrokerConfig(input: BrokerConfigInput): GeneratedConfig {
  const { base, consumers, purpose, vars, directory, workingDirectory, defaults, main } = input;
  const config = relocate(base.wrangler ?? defaults, {
    from: base.directory,
    to: directory,
    workingDirectory,
  });
  const allVars = { ...config.vars, ...vars };
  checkSettings(allVars);
  const consumerServices = consumers.map(({ worker, binding }) => ({
    binding,
    service: worker,
    entrypoint: CONSUMER_ENTRYPOINT,
  }));
  const generated: Unstable_Config = {
    ...config,
    name: base.name,
    main: `./${main.file}`,
    ...(main.isReady ? READY : {}),
    compatibility_date: config.compatibility_date ?? BROKER_COMPATIBILITY_DATE,
    compatibility_flags: [...new Set([...config.compatibility_flags, BROKER_COMPATIBILITY_FLAG])],
    // Otherwise each function that is made, closures of a request included, is given its name anew by a call.
    keep_names: config.keep_names ?? false,
    durable_objects: {
      ...config.durable_objects,
      bindings: withBrokerObjects(config.durable_objects.bindings),
    },
    migrations: withBrokerClasses(config.migrations),
    services: [...(config.services ?? []), ...consumerServices],
    vars: allVars,
    // By it a deployed broker tells a deployment from a crash. Elsewhere whoever ends the process says which it was.
    ...(purpose === "build"
      ? {
          version_metadata: config.version_metadata ?? { binding: VERSION_BINDING },
          // A third of it is uploaded then, and read at each start.
          minify: config.minify ?? true,
        }
      : { version_metadata: defaults.version_metadata }),
  };
  return serialisable(settle(generated, purpose), defaults);
}

/** Modules as they are to run: to bundle them again Wrangler would take most of a second, and 100 MB. */
const READY = {
  no_bundle: true,
  find_additional_modules: true,
  base_dir: undefined,
  minify: undefined,
  rules: [{ type: "ESModule", globs: ["*.js"], fallthrough: false }],
} satisfies Partial<Unstable_Config>;

/** Binding names of the consumers, in the order of their names: `CONSUMER_` and the Worker's name in capitals. */
export function consumerBindings(workers: readonly string[]): ConsumerBinding[] {
  const taken = new Set<string>();
  return [...workers].sort().map((worker) => {
    const plain = `CONSUMER_${worker.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
    let binding = plain;
    // "a-b" and "a_b" are two Workers.
    for (let i = 2; taken.has(binding); i++) binding = `${plain}_${i}`;
    taken.add(binding);
    return { worker, binding };
  });
}

type DurableObjectBindings = Unstable_Config["durable_objects"]["bindings"];

/** The Durable Objects of a broker: its bindings to its own classes. */
const BROKER_OBJECTS = [
  { name: BROKER_QUEUES_BINDING, class_name: BROKER_CLASS },
  { name: DIRECTORY_BINDING, class_name: DIRECTORY_CLASS },
];

function withBrokerObjects(bindings: DurableObjectBindings): DurableObjectBindings {
  const missing = BROKER_OBJECTS.filter((object) => !bindings.some(({ name }) => name === object.name));
  return [...bindings, ...missing];
}

/** A migration that creates the classes which none creates yet, under a tag that none has. */
function withBrokerClasses(migrations: Unstable_Config["migrations"]): Unstable_Config["migrations"] {
  const created = new Set(migrations.flatMap((migration) => migration.new_sqlite_classes ?? []));
  const missing = BROKER_OBJECTS.map(({ class_name }) => class_name).filter((name) => !created.has(name));
  if (missing.length === 0) return migrations;
  let number = migrations.length + 1;
  while (migrations.some(({ tag }) => tag === `v${number}`)) number += 1;
  return [...migrations, { tag: `v${number}`, new_sqlite_classes: missing }];
}
