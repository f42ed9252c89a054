import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "@sluice/project/errors";
import { ConfigReader } from "@sluice/project/read/config-reader";
import { isInUse } from "../http/port-in-use.ts";
import type { Session } from "../processes/sessions.ts";

/** A Worker or a broker of another process that has the name of one here. */
interface Namesake {
  readonly name: string;
  /** Warning to print; `null` where the shared name does no harm. */
  readonly line: string | null;
}

/** Names that this session uses in Wrangler's registry. */
interface Names {
  readonly workers: readonly string[];
  readonly broker: string;
  /** Whether the broker is that of another session, called by Wrangler's registry. */
  readonly isJoined: boolean;
  /** The data folder. Absolute. */
  readonly data: string;
}

/** Greatest age of a live entry of Wrangler's registry, in ms. 4.164 renews entries every 10 s, 4.106 every 30 s. */
const RENEWED_MS_MAX = 90_000;

const RULE = "Other processes can call only one of the two.";

/**
 * Finds the names that other processes already have in Wrangler's registry. It holds one Worker of a name: the first
 * with Wrangler 4.164, the last with 4.106. Neither version warns.
 *
 * @param others sessions besides this one, the oldest first.
 * @param registry Wrangler's folder with a file for each name. Absolute.
 * @throws CliError where these Workers join a broker, and an older broker of the same name runs on other data: their
 *   messages would go to that one.
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
  // One after the other: each check listens for a moment at the entry's address, which several entries may share.
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

/** The message does not suggest to rename the broker: its data are stored under its name. */
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
  // That session's own process reports what is wrong with its files.
  const readings = files.map((file) => reader.queuesElsewhere(file, env, modules).catch(() => null));
  const workers = (await Promise.all(readings)).filter((queues) => queues !== null);
  return workers.map(({ workerName: name, directory }) => ({ name, directory, pid }));
}

/**
 * Removes an entry of Wrangler's registry at whose address nobody listens: its process was killed, and Wrangler 4.164
 * would keep the name from others for 90 s. If only its workerd is restarting, its Wrangler writes the entry again.
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
