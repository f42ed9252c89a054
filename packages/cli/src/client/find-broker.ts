import nodePath, { type PlatformPath } from "node:path";
import { brokersOf, type RunningBroker } from "@sluice/local/processes/running-brokers";
import { CliError, EXIT_NO_BROKER, EXIT_USAGE } from "@sluice/project/errors";
import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import type { Surroundings } from "../surroundings.ts";

/** Address of a broker, with the token for its requests. */
export interface BrokerAddress {
  /** Without `/__sluice` and without a slash at its end. */
  readonly url: string;
  /** A token of the broker's; `null` for none. */
  readonly token: string | null;
  /** Words for a broker that was not named and has no folder in or around the current one. Default: `null`. */
  readonly stranger?: string | null;
}

/** Options that name a broker. */
export interface BrokerOptions {
  /** Default: `SLUICE_URL`, else the broker that runs here. */
  readonly url?: string;
  /** Default: `SLUICE_API_TOKEN`, else the one that was made for a broker that runs here, else none. */
  readonly token?: string;
}

/**
 * Finds the broker for a command: the one that is named, else the one of this user's running brokers whose folders lie
 * nearest to the current one.
 *
 * @throws CliError with `EXIT_NO_BROKER` where none runs; with `EXIT_USAGE` for a malformed URL, and where several
 * brokers are equally near.
 */
export function findBroker(
  options: BrokerOptions,
  { cwd, env }: Pick<Surroundings, "cwd" | "env">,
): BrokerAddress {
  const given = options.token ?? (env.SLUICE_API_TOKEN || null);
  const named = options.url ?? (env.SLUICE_URL || null);
  const running = brokersOf(env).running();
  const base = named === null ? null : baseOf(named);
  if (base !== null)
    return {
      url: base,
      token: given ?? running.find(({ url }) => url === base)?.token ?? null,
      stranger: null,
    };
  const found = nearest(running, cwd);
  const { url, token = null, command, pid, folders } = found;
  const isRelated = stepsToNearest(found, cwd, nodePath) !== Number.POSITIVE_INFINITY;
  const stranger = isRelated ? null : `${command} (process ${pid}) of ${folders.join(", ")} at ${url}`;
  return { url, token: given ?? token, stranger };
}

/**
 * Finds the broker whose folder is nearest to the current one.
 *
 * @param path rules for paths. Default: those of this system.
 * @throws CliError where there is none, or several are equally near.
 */
export function nearest(
  brokers: readonly RunningBroker[],
  cwd: string,
  path: PlatformPath = nodePath,
): RunningBroker {
  const steps = brokers.map((broker) => stepsToNearest(broker, cwd, path));
  const best = Math.min(...steps);
  const near = oneForEachFolder(brokers.filter((_, i) => steps[i] === best));
  const [only, another] = near;
  if (only === undefined) throw new CliError(NONE_RUNS, EXIT_NO_BROKER);
  if (another === undefined) return only;
  const lines = near.map(
    ({ url, command, pid, data }) => `  --url ${url}  ${command} (process ${pid}), ${data}`,
  );
  throw new CliError(`Several brokers are running. Say which one is meant:\n${lines.join("\n")}`, EXIT_USAGE);
}

const NONE_RUNS =
  'No broker is running. Start one: "sluice dev" in the folder of a Worker, or "sluice serve" for a broker without ' +
  "any.\nFor that of a vite dev name its address, --url http://localhost:5173, as for one on another machine.";

function stepsToNearest({ folders }: RunningBroker, cwd: string, path: PlatformPath): number {
  return Math.min(...folders.map((folder) => stepsTo(folder, cwd, path)));
}

/** Counts the levels between two folders of which one contains the other; infinite for others. */
function stepsTo(folder: string, cwd: string, { relative, isAbsolute, sep }: PlatformPath): number {
  const [down, up] = [relative(folder, cwd), relative(cwd, folder)];
  if (down === "") return 0;
  // The way to another drive is an absolute path.
  const within = [down, up].find((path) => path.split(sep)[0] !== ".." && !isAbsolute(path));
  return within === undefined ? Number.POSITIVE_INFINITY : within.split(sep).length;
}

/** Keeps one entry for each data folder: several `sluice dev` on one folder share a broker. */
function oneForEachFolder(brokers: readonly RunningBroker[]): RunningBroker[] {
  return [...new Map(brokers.toReversed().map((broker) => [broker.data, broker])).values()].reverse();
}

/** End of an address that a broker prints: of its page, its admin API or its SQS endpoint. */
const PRINTED_ENDS = new RegExp(`${SLUICE_PATH}(/api|/aws)?$`);

/** Returns the broker's base address for any of the addresses that it prints. */
function baseOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new CliError(
      `"${text}" is no http: or https: URL. Example: --url http://localhost:8787`,
      EXIT_USAGE,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(PRINTED_ENDS, "")}`;
}
