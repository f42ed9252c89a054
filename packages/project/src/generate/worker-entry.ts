import type { ProducerConfig } from "@sluice/config";
import {
  BROKER_BINDING,
  CONSUMER_ENTRYPOINT,
  FRONT_ENTRYPOINT,
  GENERATED_HEADER,
  HIDDEN_BINDINGS,
  QUEUES_BINDING,
  QUEUES_DIRECTORY_BINDING,
} from "../names.ts";
import type { MainModule } from "../read/main-module.ts";
import type { FrontDoor, FrontDoorOptions } from "../runtime/front-door-contract.ts";
import type { QueueCompatibility } from "../wrangler/compatibility.ts";

export const BINDINGS_FILE = "bindings.js";
export const CONSOLE_FILE = "console.js";

/** Behaviour of a Worker's bindings. */
type BindingBehaviour = Pick<QueueCompatibility, "exposeErrorCodes" | "defaultContentType"> & {
  /** Whether its requests share calls to the broker. */
  readonly sharesCalls: boolean;
};

/**
 * Makes the source of the module that a generated entry imports first. It replaces every queue binding by a
 * `QueueProducer` before the user's code runs. `env` of `cloudflare:workers` is the object behind the `env` of
 * handlers, Durable Objects and entrypoints, so all of them see it.
 *
 * @param worker name of the Worker, which queues record as the sender.
 * @param runtime module specifier of our runtime for Workers.
 */
export function bindingsSource(
  worker: string,
  producers: readonly ProducerConfig[],
  { exposeErrorCodes, defaultContentType, sharesCalls }: BindingBehaviour,
  runtime: string,
): string {
  const options = {
    worker,
    namespaceBinding: QUEUES_BINDING,
    directoryBinding: QUEUES_DIRECTORY_BINDING,
    exposeErrorCodes,
    defaultContentType,
  };
  // Properties instead of imports: on a runtime that is too old for these exports, the module loads all the same, and
  // shares or traces no calls.
  const shared = sharesCalls ? ", keepAlive: workers.waitUntil" : "";
  const given = `{ ...${literal(options)}, tracing: workers.tracing${shared} }`;
  const install =
    producers.length === 0 ? [] : [`installProducers(workers.env, ${literal(producers)}, ${given});`];
  const imported = producers.length === 0 ? "hideBindings" : "hideBindings, installProducers";
  return lines([
    GENERATED_HEADER,
    `import * as workers from "cloudflare:workers";`,
    `import { ${imported} } from ${literal(runtime)};`,
    "",
    ...install,
    `hideBindings(workers.env, ${literal(HIDDEN_BINDINGS)});`,
  ]);
}

/**
 * Makes the source of the module that a consumer's entry imports first where the lines that its handler prints are
 * kept. It replaces the methods of `console` before the user's code reads them.
 *
 * @param names whether the terminal shows queue and message beside each line. Default: false.
 */
export function consoleSource(runtime: string, names = false): string {
  return lines([
    GENERATED_HEADER,
    `import { watchConsole } from ${literal(runtime)};`,
    "",
    names ? `watchConsole(${literal({ names })});` : "watchConsole();",
  ]);
}

export interface WorkerEntryInput {
  /** Module specifier of the user's main module; `null` for a Worker of static assets alone. */
  readonly userMain: string | null;
  readonly main: MainModule;
  /** Whether there is a `bindings.js` to import. */
  readonly hasBindings: boolean;
  readonly frontDoor: FrontDoor | null;
  readonly consumes: boolean;
  readonly waitForWaitUntil: boolean;
  /** Whether the Worker may import `AsyncLocalStorage`. Default: false. */
  readonly hasAsyncLocalStorage?: boolean;
  /** Module specifier of our runtime for Workers. */
  readonly runtime: string;
  /** Whether there is a `console.js` to import. Default: false. */
  readonly watchesConsole?: boolean;
  /** Name of the module of the bindings, beside the entry. Default: `bindings.js`. */
  readonly bindingsFile?: string;
}

/** Makes the source of a generated entry: all exports of the user's module, and what the broker needs. */
export function workerEntrySource(input: WorkerEntryInput): string {
  const { userMain, main, hasBindings, frontDoor, consumes, waitForWaitUntil, runtime } = input;
  const { bindingsFile = BINDINGS_FILE, hasAsyncLocalStorage = false, watchesConsole = false } = input;
  const hasDefault = main.kind === "default";
  const usesDefault = hasDefault && (frontDoor !== null || consumes);
  const ours = [
    ...(frontDoor === null ? [] : ["withFrontDoor"]),
    ...(consumes ? ["createQueueConsumer"] : []),
  ];
  const handlers = hasDefault ? "handlers" : "undefined";
  const options = consumerOptions(waitForWaitUntil, hasAsyncLocalStorage);
  return lines([
    GENERATED_HEADER,
    ...(watchesConsole ? [`import "./${CONSOLE_FILE}";`] : []),
    ...(hasBindings ? [`import "./${bindingsFile}";`] : []),
    ...(consumes && hasAsyncLocalStorage ? [IMPORT_CONTEXT] : []),
    ...(ours.length === 0 ? [] : [`import { ${ours.sort().join(", ")} } from ${literal(runtime)};`]),
    ...(usesDefault ? [`import handlers from ${literal(userMain)};`] : []),
    "",
    ...(userMain === null ? [] : [`export * from ${literal(userMain)};`]),
    ...(userMain === null ? [] : visibleExport(main, userMain, frontDoor)),
    ...(frontDoor === null
      ? []
      : [
          `export const ${FRONT_ENTRYPOINT} = withFrontDoor(${handlers}, ${literal(frontDoorOptions(frontDoor))});`,
          `export default ${FRONT_ENTRYPOINT};`,
        ]),
    ...(consumes
      ? [`export const ${CONSUMER_ENTRYPOINT} = createQueueConsumer(${handlers}, ${options});`]
      : []),
  ]);
}

/** Import of the class by whose objects the consumer finds out which delivery prints a line. */
export const IMPORT_CONTEXT = 'import { AsyncLocalStorage } from "node:async_hooks";';

/** Makes the source of the options of `createQueueConsumer`. */
export function consumerOptions(waitForWaitUntil: boolean, hasAsyncLocalStorage: boolean): string {
  const options = literal({ waitForWaitUntil });
  return hasAsyncLocalStorage ? `{ ...${options}, context: new AsyncLocalStorage() }` : options;
}

/**
 * Makes an export with a name. By such exports Wrangler tells a module from a service worker (`guessWorkerFormat`). It
 * does not look into `export *`, which does not export the default anyway.
 */
function visibleExport(main: MainModule, userMain: string, frontDoor: FrontDoor | null): string[] {
  if (frontDoor !== null) return [];
  if (main.kind === "default") return [`export { default } from ${literal(userMain)};`];
  return main.kind === "named-only" ? [`export { ${main.names[0]} } from ${literal(userMain)};`] : [];
}

function frontDoorOptions(frontDoor: FrontDoor): FrontDoorOptions {
  return { brokerBinding: BROKER_BINDING, frontDoor };
}

function literal(value: unknown): string {
  return JSON.stringify(value);
}

function lines(all: readonly string[]): string {
  return `${all.join("\n")}\n`;
}
