import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "@sluice/project/errors";
import { ConfigReader } from "@sluice/project/read/config-reader";
import { isInUse } from "../http/port-in-use.ts";
import type { Session } from "../processes/sessions.ts";

/** A Worker or a broker of another process that has the name of one here. */
interface Namesake {
  readonly name: string;
  /** Line to print; `null` where it does no harm. */
  readonly line: string | null;
}

/** Names here. */
interface Names {
  readonly workers: readonly string[];
  readonly broker: string;
  /** Whether the broker is that of another session, called by Wrangler's registry. */
  readonly isJoined: boolean;
  /** The data folder. Absolute. */
  readonly data: string;
}

/** How long ago Wrangler has renewed an entry of its registry at most, in ms. 4.164 does so every 10 s, 4.106 every 30 s. */
const RENEWED_MS_MAX = 90_000;

const RULE = "Other processes can call only one of the two.";

/**
 * Finds the names that other processes have in Wrangler's registry already, which holds one Worker of a name: of
 * Wrangler 4.164 the first one, of 4.106 the last one. Neither says so.
 *
 * @param others sessions besides this one, the oldest first.
 * @param registry Wrangler's folder with a file for each name. Absolute.
 * @throws CliError where these Workers share a broker that another one of its name came before: their messages would
 *   lie in queues of a project that nobody meant.
 */
export async function namesakesOf(
  { workers, broker, isJoined, data }: Names,
  others: readonly Session[],
  registry: string,
): Promise<Namesake[]> {
  const running = (await Promise.all(others.map(workersOf))).flat();
  const brokers = others.filter((one) => one.broker === broker);
  const otherBroker = brokers.find((one) => one.data !== data);
  if (isJoined && otherBroker !== undefined && otherBroker === brokers[0]) refuse(otherBroker, broker, data);
  // One after the other: each listens for a moment at an address that several of them may name.
  for (const name of [...workers, broker]) await removeDead(join(registry, name));
  return [
    ...workers.flatMap((name) => {
      const its = running.find((one) => one.name === name);
      if (its !== undefined) {
        return {
          name,
          line: `The Worker "${name}" of ${its.directory} runs already (process ${its.pid}). ${RULE}`,
        };
      }
      const line = `A Worker "${name}" runs already, by another program's Wrangler. ${RULE}`;
      return isRegistered(join(registry, name)) ? { name, line } : [];
    }),
    ...(otherBroker === undefined ? [] : [brokersNamesake(otherBroker, broker, isJoined)]),
  ];
}

/** Another name for the broker is no way out: its data are stored under the name, and it would begin with none. */
function refuse(other: Session, name: string, data: string): never {
  throw new CliError(
    `A broker of the same name, "${name}", runs on ${other.data} (process ${other.pid}). It came before that of ${data}, ` +
      'and would get what these Workers send. End it, or run all Workers of this project in one "sluice dev", or start ' +
      `each "sluice dev" of this project with WRANGLER_REGISTRY_PATH=${data}-registry: then the two projects do not meet.`,
  );
}

function brokersNamesake({ data, pid }: Session, name: string, isJoined: boolean): Namesake {
  const line =
    `A broker of the same name, "${name}", runs on ${data} (process ${pid}), and may get what these Workers send. ` +
    RULE;
  return { name, line: isJoined ? line : null };
}

async function workersOf({ files, env, modules = {}, pid }: Session) {
  const reader = new ConfigReader();
  // Its process says what is wrong with a file.
  const readings = files.map((file) => reader.queuesElsewhere(file, env, modules).catch(() => null));
  const workers = (await Promise.all(readings)).filter((queues) => queues !== null);
  return workers.map(({ workerName: name, directory }) => ({ name, directory, pid }));
}

/**
 * Removes an entry of Wrangler's registry at whose address nobody listens: all processes of its Worker were killed, and
 * Wrangler 4.164 would keep the name from others for 90 s. A Wrangler whose workerd begins anew writes it again.
 */
async function removeDead(file: string): Promise<void> {
  const port = debugPortIn(file);
  if (port !== null && !(await isInUse("127.0.0.1", port))) rmSync(file, { force: true });
}

/** Port of this machine by which other processes call a Worker; `null` where an entry names none. */
function debugPortIn(file: string): number | null {
  try {
    const { debugPortAddress } = JSON.parse(readFileSync(file, "utf8"));
    const [, port] = /^127\.0\.0\.1:(\d+)$/.exec(debugPortAddress) ?? [];
    return port === undefined ? null : Number(port);
  } catch {
    return null;
  }
}

function isRegistered(file: string): boolean {
  return Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) < RENEWED_MS_MAX;
}
