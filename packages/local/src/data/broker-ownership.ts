import { setTimeout as sleep } from "node:timers/promises";
import { CliError } from "@sluice/project/errors";
import { isRunning } from "@sluice/project/processes";
import { isTooOld, SHARING_VERSION_MIN } from "@sluice/project/wrangler/load-wrangler";
import type { Session, Sessions } from "../processes/sessions.ts";
import { DataInUseError, type DataLostError, type Holder, lockData } from "./data-lock.ts";
import { refuseLongPath } from "./long-path.ts";

/** Process that runs the broker of a data folder. */
export type BrokerOwner =
  /** This process. Entered by taking the folder's lock, left only by the end of this process. */
  | { readonly kind: "own" }
  /**
   * Another process, which had the lock first. When that process ends, the first of the sessions that use its broker to
   * take the lock becomes `own`. No message is lost: all are in the folder.
   */
  | { readonly kind: "joined"; readonly leader: Session };

const SLUICE_DEV = "sluice dev";
/** Commands that share their broker. */
const SHARING: readonly string[] = [SLUICE_DEV, "getPlatformProxy"];

interface BrokerOwnershipOptions {
  /** The data folder. Absolute. */
  readonly data: string;
  /** The environment, "" for the top level. Sessions of different environments share no broker. */
  readonly env: string;
  /** Configuration files of this process's Workers. */
  readonly files: readonly string[];
  /** Version of the Wrangler that runs these Workers. */
  readonly wranglerVersion: string;
  /** Command that takes the folder, as other processes name it in errors. Default: `sluice dev`. */
  readonly command?: string;
  readonly sessions: Sessions;
  /** Ends the broker at once: another one may have the folder now. Default: ends this process, with the reason. */
  readonly onLost?: (error: DataLostError) => void;
}

/** Result of an attempt to take a data folder. */
interface Taken {
  readonly owner: BrokerOwner;
  /** Releases the folder's lock, if this process has it. */
  readonly free: () => void;
  /** Name of another process's broker, under which the data are stored; `null` where this process has the folder. */
  readonly brokerName: string | null;
}

/**
 * How long a process that has just taken a folder may take to announce that its broker is shared, in ms. It reads
 * configurations first, and `getPlatformProxy` starts its broker.
 */
export const ANNOUNCED_MS_MAX = 5_000;
const LOOK_EVERY_MS = 100;

/**
 * Ensures that all `sluice dev` on one data folder share one broker: two would overwrite each other's acknowledged
 * messages. The first session runs it, and the Workers of the others reach it through Wrangler's dev registry.
 */
export class BrokerOwnership {
  readonly #options: BrokerOwnershipOptions;
  #owner: BrokerOwner;
  #free: () => void;
  #brokerName: string | null;

  private constructor(options: BrokerOwnershipOptions, { owner, free, brokerName }: Taken) {
    this.#options = options;
    this.#owner = owner;
    this.#free = free;
    this.#brokerName = brokerName;
  }

  /**
   * Takes the folder, or finds the process that shares its broker.
   *
   * @throws CliError if these Workers cannot use the broker of the process that has the folder, or if one of them runs
   *   on the folder already.
   */
  static async open(options: BrokerOwnershipOptions): Promise<BrokerOwnership> {
    return new BrokerOwnership(options, await take(options));
  }

  get owner(): BrokerOwner {
    return this.#owner;
  }

  /** Whether this process runs the broker. */
  get isOwn(): boolean {
    return this.#owner.kind === "own";
  }

  /** Name of the broker that this session joined, under which the data are stored; `null` for that of its own files. */
  get brokerName(): string | null {
    return this.#brokerName;
  }

  /** Whether a session's Workers use the broker of this process. */
  isUsedBy({ data, broker }: Session): boolean {
    return this.isOwn && data === this.#options.data && broker === null;
  }

  /** Whether the process that ran the broker has ended: one that was killed has not announced its end. */
  get isVacant(): boolean {
    return this.#owner.kind === "joined" && !isRunning(this.#owner.leader.pid);
  }

  /**
   * Takes the broker over if its process has ended.
   *
   * @returns the new owner; `null` if it has not changed.
   * @throws CliError if these Workers cannot use the broker of the process that has the folder now.
   */
  async change(): Promise<BrokerOwner | null> {
    if (this.#owner.kind === "own") return null;
    const before = this.#owner.leader.pid;
    const { owner, free, brokerName } = await take(this.#options);
    this.#owner = owner;
    this.#free = free;
    this.#brokerName = brokerName ?? this.#brokerName;
    return owner.kind === "own" || owner.leader.pid !== before ? owner : null;
  }

  /** Releases the folder. */
  leave(): void {
    this.#free();
  }
}

/** Takes the folder or joins its broker. Waits while the holder may still announce that its broker is shared. */
async function take(options: BrokerOwnershipOptions): Promise<Taken> {
  const { data, command = SLUICE_DEV, onLost } = options;
  refuseLongPath(data);
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    try {
      return { owner: { kind: "own" }, free: lockData(data, command, onLost), brokerName: null };
    } catch (error) {
      if (!(error instanceof DataInUseError)) throw error;
      const leader = findLeader(options);
      if (leader !== undefined) {
        refuseOldWrangler(options, error);
        return { owner: { kind: "joined", leader }, free: () => {}, brokerName: leader.broker };
      }
      if (waitedMs >= ANNOUNCED_MS_MAX || !mayAnnounce(error.holder, options)) throw error;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

/** Whether the holder of a folder runs a command that shares its broker, and has not announced a broker yet. */
function mayAnnounce(holder: Holder | null, { sessions }: BrokerOwnershipOptions): boolean {
  if (holder === null) return true;
  const { pid, command } = holder;
  if (pid === process.pid || !SHARING.includes(command)) return false;
  return !sessions.others().some((one) => one.pid === pid && one.broker !== null);
}

/** @throws CliError where this version of Wrangler does not let the Workers reach a broker of another process. */
function refuseOldWrangler({ wranglerVersion }: BrokerOwnershipOptions, inUse: DataInUseError): void {
  if (!isTooOld(wranglerVersion, SHARING_VERSION_MIN)) return;
  throw new CliError(
    `${inUse.message} To share its broker takes Wrangler ${SHARING_VERSION_MIN} or newer, and this is ` +
      `${wranglerVersion}.`,
  );
}

/**
 * Finds the session that runs the broker of the folder.
 *
 * @throws CliError where one of the Workers runs on the folder already.
 */
function findLeader(options: BrokerOwnershipOptions): Session | undefined {
  const { data, env, files, sessions, command = SLUICE_DEV } = options;
  // A session without Workers has no use for another session's broker.
  if (command === SLUICE_DEV && files.length === 0) return undefined;
  const here = sessions.others().filter((one) => one.data === data && one.env === env);
  const leader = here.find(({ broker }) => broker !== null);
  const twin = leader && here.find((one) => one.files.some((file) => files.includes(file)));
  if (twin === undefined) return leader;
  const twice = files.filter((file) => twin.files.includes(file)).join(", ");
  throw new CliError(
    `${twice} runs already: in another "sluice dev" (process ${twin.pid}) on the same data. End that ` +
      "one, or choose another folder with --persist-to.",
  );
}
