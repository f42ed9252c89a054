import type { ProducerConfig } from "@sluice/config";
import { CONSOLE_FILE, consumerOptions, IMPORT_CONTEXT } from "@sluice/project/generate/worker-entry";
import {
  BROKER_BINDING,
  CONSUMER_ENTRYPOINT,
  GENERATED_HEADER,
  HIDDEN_BINDINGS,
  QUEUES_BINDING,
  QUEUES_DIRECTORY_BINDING,
} from "@sluice/project/names";
import type { FrontDoor } from "@sluice/project/runtime/front-door-contract";
import type { QueueCompatibility } from "@sluice/project/wrangler/compatibility";

export const BINDINGS_FILE = "bindings.js";

/** Data for the generated modules of a Worker. */
export interface WorkerSource {
  readonly name: string;
  readonly producers: readonly ProducerConfig[];
  readonly compatibility: QueueCompatibility;
  /** Whether it has a `queue()` handler that the broker calls. */
  readonly consumes: boolean;
  /** How requests for the broker reach the Worker; `null` for a Worker that does not get them. */
  readonly frontDoor: FrontDoor | null;
  /** Module specifiers of the user's main module and of our runtime for Workers. */
  readonly main: string;
  readonly runtime: string;
}

/**
 * Makes the module that the entry imports first, so that the importable `env` has the queues before the user's code
 * runs. Requests share no calls to the broker, because Vite runs modules in a request of their own.
 */
export function bindingsSource({ name, producers, compatibility, runtime }: WorkerSource): string {
  const { exposeErrorCodes, defaultContentType } = compatibility;
  const options = {
    worker: name,
    namespaceBinding: QUEUES_BINDING,
    directoryBinding: QUEUES_DIRECTORY_BINDING,
    exposeErrorCodes,
    defaultContentType,
  };
  const args = ["env", ...[producers, options, HIDDEN_BINDINGS].map((value) => JSON.stringify(value))];
  return lines([
    GENERATED_HEADER,
    `import { env } from "cloudflare:workers";`,
    `import { queueBinder } from ${JSON.stringify(runtime)};`,
    "",
    `export const bind = queueBinder(${args.join(", ")});`,
  ]);
}

/**
 * Makes the entry: the exports of the user's main module, with queues that send to the broker.
 *
 * Only that module knows the names of its exports, which change while the server runs. `export *` would export its
 * classes unchanged, so the entry calls Vite's own function for `export *`.
 */
export function entrySource(worker: WorkerSource): string {
  const { compatibility, consumes, frontDoor, main, runtime } = worker;
  const front = { brokerBinding: BROKER_BINDING, frontDoor };
  const { waitForWaitUntil, hasAsyncLocalStorage } = compatibility;
  const options = consumerOptions(waitForWaitUntil, hasAsyncLocalStorage);
  return lines([
    GENERATED_HEADER,
    ...(consumes ? [`import "./${CONSOLE_FILE}";`] : []),
    ...(consumes && hasAsyncLocalStorage ? [IMPORT_CONTEXT] : []),
    `import { bind } from "./${BINDINGS_FILE}";`,
    `import { boundExport, boundExports, createQueueConsumer, withFrontDoor } from ${JSON.stringify(runtime)};`,
    `import * as main from ${JSON.stringify(main)};`,
    "",
    "const handlers = boundExport(main.default, bind);",
    frontDoor === null
      ? "export default handlers ?? {};"
      : `export default withFrontDoor(handlers, ${JSON.stringify(front)});`,
    ...(consumes ? [`export const ${CONSUMER_ENTRYPOINT} = createQueueConsumer(handlers, ${options});`] : []),
    "__vite_ssr_exportAll__(boundExports(main, bind));",
  ]);
}

function lines(all: readonly string[]): string {
  return `${all.join("\n")}\n`;
}
