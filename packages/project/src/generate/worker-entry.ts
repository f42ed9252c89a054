import type { ProducerConfig } from "@sluice/config";
import {
  BROKER_BINDING,
  CONSUMER_ENTRYPOINT,
  FRONT_ENTRYPOINT,
  GENERATED_HEADER,
  HIDDEN_BINDINGS,
  QUEUES_BINDING,
} from "../names.ts";
import type { MainModule } from "../read/main-module.ts";
import type { FrontDoor, FrontDoorOptions } from "../runtime/front-door-contract.ts";
import type { QueueCompatibility } from "../wrangler/compatibility.ts";

export const BINDINGS_FILE = "bindings.js";

/** How a Worker's bindings behave. */
export type BindingBehaviour = Pick<QueueCompatibility, "exposeErrorCodes" | "defaultContentType"> & {
  /** Whether its requests share calls to the broker. */
  readonly sharesCalls: boolean;
};

/**
 * Source of the module that a generated entry imports first: it puts a `QueueProducer` in the place of every queue
 * binding before any of the user's code runs. `env` of `cloudflare:workers` is the object behind the `env` of handlers,
 * Durable Objects and entrypoints, so all of them see it.
 *
 * @param worker name of the Worker: queues say who has sent.
 * @param runtime module specifier of our runtime for Workers.
 */
export function bindingsSource(
  worker: string,
  producers: readonly ProducerConfig[],
  { exposeErrorCodes, defaultContentType, sharesCalls }: BindingBehaviour,
  runtime: string,
): string {
  const options = { worker, namespaceBinding: QUEUES_BINDING, exposeErrorCodes, defaultContentType };
  // A property of the module and no import: a runtime that is too old to export it loads all the same, and shares
  // nothing.
  const given = sharesCalls ? `{ ...${literal(options)}, keepAlive: workers.waitUntil }` : literal(options);
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

export interface WorkerEntryInput {
  /** Module specifier of the user's main module; `null` for a Worker of static assets alone. */
  readonly userMain: string | null;
  readonly main: MainModule;
  /** Whether `bindings.js` is there to be imported. */
  readonly hasBindings: boolean;
  readonly frontDoor: FrontDoor | null;
  readonly consumes: boolean;
  readonly waitForWaitUntil: boolean;
  /** Module specifier of our runtime for Workers. */
  readonly runtime: string;
  /** Name of the module of the bindings, beside the entry. Default: `bindings.js`. */
  readonly bindingsFile?: string;
}

/** Source of a generated entry: the user's module with everything it exports, and what the broker needs beside it. */
export function workerEntrySource(input: WorkerEntryInput): string {
  const { userMain, main, hasBindings, frontDoor, consumes, waitForWaitUntil, runtime } = input;
  const { bindingsFile = BINDINGS_FILE } = input;
  const hasDefault = main.kind === "default";
  const usesDefault = hasDefault && (frontDoor !== null || consumes);
  const ours = [
    ...(frontDoor === null ? [] : ["withFrontDoor"]),
    ...(consumes ? ["createQueueConsumer"] : []),
  ];
  const handlers = hasDefault ? "handlers" : "undefined";
  const options = literal({ waitForWaitUntil });
  return lines([
    GENERATED_HEADER,
    ...(hasBindings ? [`import "./${bindingsFile}";`] : []),
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

/**
 * One export that can be seen without looking into the user's module: by those, and not by what is behind `export *`,
 * Wrangler tells a module from a service worker (`guessWorkerFormat`). `export *` leaves the default export out anyway.
 */
function visibleExport(main: MainModule, userMain: string, frontDoor: FrontDoor | null): string[] {
  if (frontDoor !== null) return [];
  if (main.kind === "default") return [`export { default } from ${literal(userMain)};`];
  return main.kind === "named-only" ? [`export { ${main.names[0]} } from ${literal(userMain)};`] : [];
}

function frontDoorOptions(frontDoor: FrontDoor): FrontDoorOptions {
  return { brokerBinding: BROKER_BINDING, frontDoor };
}

/** A JavaScript literal of plain data. */
function literal(value: unknown): string {
  return JSON.stringify(value);
}

function lines(all: readonly string[]): string {
  return `${all.join("\n")}\n`;
}
