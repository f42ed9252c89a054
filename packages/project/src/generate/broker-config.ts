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
import { FLAG_DISALLOW_IMPORTABLE_ENV } from "../wrangler/compatibility.ts";
import { type GeneratedConfig, serialisable } from "../wrangler/generated-config.ts";
import { relocate } from "../wrangler/relocate.ts";
import { checkSettings } from "./check-settings.ts";
import { type Purpose, withoutReadKeys } from "./worker-config.ts";

/** A Worker with a `queue()` handler, with the broker's service binding to it. */
export interface ConsumerBinding {
  readonly worker: string;
  readonly binding: string;
}

export interface BrokerConfigInput {
  readonly base: BrokerBase;
  readonly consumers: readonly ConsumerBinding[];
  readonly purpose: Purpose["kind"];
  /** Variables of the broker besides those of its own configuration. */
  readonly vars: Readonly<Record<string, string>>;
  /** Absolute paths of the configuration's folder and of the command's. */
  readonly directory: string;
  readonly workingDirectory: string;
  readonly defaults: Unstable_Config;
  /** Path of the broker's module in the folder, and whether the module is bundled already. */
  readonly main: { readonly file: string; readonly isReady: boolean };
}

/**
 * Compatibility date of a broker without its own configuration. The workerd of the oldest Wrangler
 * (`WRANGLER_VERSION_MIN`) accepts it. A workerd does not start Workers with dates that are newer than itself.
 */
export const BROKER_COMPATIBILITY_DATE = "2026-01-01";

/** Flag by which the broker notices SQS clients that have stopped waiting, so that they get no messages. */
export const BROKER_COMPATIBILITY_FLAG = "enable_request_signal";

/**
 * Generates the broker's configuration: the user's one for it, if there is one, with the Durable Object classes, a
 * service binding to every consumer, and the generated entry.
 *
 * @throws CliError for variables with which the broker would refuse all clients.
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
    // The broker's code imports `env`.
    compatibility_flags: [...new Set([...config.compatibility_flags, BROKER_COMPATIBILITY_FLAG])].filter(
      (flag) => flag !== FLAG_DISALLOW_IMPORTABLE_ENV,
    ),
    // Otherwise the bundler adds a call that names each function, which every request would make for its closures.
    keep_names: config.keep_names ?? false,
    durable_objects: {
      ...config.durable_objects,
      bindings: withBrokerObjects(config.durable_objects.bindings),
    },
    migrations: withBrokerClasses(config.migrations),
    services: [...(config.services ?? []), ...consumerServices],
    vars: allVars,
    // By its version a deployed broker tells a deployment from a crash. Elsewhere the process that ends it records
    // that.
    ...(purpose === "build"
      ? {
          version_metadata: config.version_metadata ?? { binding: VERSION_BINDING },
          // Reduces the upload, which is read at each start, to a third of its size.
          minify: config.minify ?? true,
        }
      : { version_metadata: defaults.version_metadata }),
  };
  return serialisable(withoutReadKeys(generated, purpose), defaults);
}

/** Settings for a broker that is bundled already: to bundle it again takes Wrangler most of a second, and 100 MB. */
const READY = {
  no_bundle: true,
  find_additional_modules: true,
  base_dir: undefined,
  minify: undefined,
  rules: [{ type: "ESModule", globs: ["*.js"], fallthrough: false }],
} satisfies Partial<Unstable_Config>;

/** Makes the consumers' binding names, sorted by Worker: `CONSUMER_` and the Worker's name in capitals. */
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

/** The broker's bindings to its own Durable Object classes. */
const BROKER_OBJECTS = [
  { name: BROKER_QUEUES_BINDING, class_name: BROKER_CLASS },
  { name: DIRECTORY_BINDING, class_name: DIRECTORY_CLASS },
];

const BROKER_CLASSES: readonly string[] = BROKER_OBJECTS.map(({ class_name }) => class_name);

function withBrokerObjects(bindings: DurableObjectBindings): DurableObjectBindings {
  const missing = BROKER_OBJECTS.filter((object) => !bindings.some(({ name }) => name === object.name));
  return [...bindings, ...missing];
}

/** Tag of the generated migration. A contract: a broker on an account keeps the tag of its last migration. */
const MIGRATION_TAG = "sluice";

/**
 * Adds a migration that creates missing classes, under an unused tag. It comes first, so that its place and its tag
 * stay the same when the user adds migrations later.
 */
function withBrokerClasses(migrations: Unstable_Config["migrations"]): Unstable_Config["migrations"] {
  const created = new Set(migrations.flatMap((migration) => migration.new_sqlite_classes ?? []));
  const missing = BROKER_CLASSES.filter((name) => !created.has(name));
  if (missing.length === 0) return migrations;
  let tag = MIGRATION_TAG;
  while (migrations.some((migration) => migration.tag === tag)) tag += "-broker";
  return [{ tag, new_sqlite_classes: missing }, ...migrations];
}

/**
 * Returns the migrations for a broker that is on an account, and so has the broker's classes: those up to its last one,
 * and the ones after it without these classes, since Cloudflare creates no class twice. If the configuration was added
 * or removed since, the last migration is not in it, and Wrangler would apply all: then it is put before them.
 *
 * @param last tag of the broker's last migration.
 */
export function migrationsAfter(
  last: string,
  migrations: Unstable_Config["migrations"],
): Unstable_Config["migrations"] {
  const at = migrations.findIndex(({ tag }) => tag === last);
  const done = at < 0 ? [{ tag: last }] : migrations.slice(0, at + 1);
  const pending = migrations.slice(at + 1).flatMap(({ new_sqlite_classes: created = [], ...migration }) => {
    const others = created.filter((name) => !BROKER_CLASSES.includes(name));
    if (others.length > 0) return { ...migration, new_sqlite_classes: others };
    return Object.keys(migration).length > 1 ? migration : [];
  });
  return [...done, ...pending];
}
