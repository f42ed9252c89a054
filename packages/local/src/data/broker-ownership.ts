import { setTimeout as sleep } from "node:timers/promises";
import { CliError } from "@sluice/project/errors";
import { isRunning } from "@sluice/project/processes";
import { isTooOld, SHARING_VERSION_MIN } from "@sluice/project/wrangler/load-wrangler";
import type { Session, Sessions } from "../processes/sessions.ts";
import { DataInUseError, type DataLostError, type Holder, lockData } from "./data-lock.ts";
import { refuseLongPath } from "./long-path.ts";

/** Which session runs the broker of a data folder. */
export type BrokerOwner =
  /** This process. It comes here by the folder's lock, and leaves by its own end. */
  | { readonly kind: "own" }
  /**
   * Another one, which had the lock first. This process comes here when it finds that, and leaves for `own` when that
   * process has ended: whoever of those that use its broker takes the lock first has it then. Nobody loses a message:
   * they are in the folder.
   */
  | { readonly kind: "joined"; readonly leader: Session };

const SLUICE_DEV = "sluice dev";
/** Commands that share their broker. */
const SHARING: readonly string[] = [SLUICE_DEV, "getPlatformProxy"];

interface BrokerOwnershipOptions {
  /** The data folder. Absolute. */
  readonly data: string;
  /** The environment, "" for the top level: brokers of different ones have nothing in common. */
  readonly env: string;
  /** Configuration files of this process's Workers. */
  readonly files: readonly string[];
  /** Version of the Wrangler that these Workers run by. */
  readonly wranglerVersion: string;
  /** Command that has the folder, as others are told. Default: `sluice dev`. */
  readonly command?: string;
  readonly sessions: Sessions;
  /** Ends the broker at once: the folder may be another one's now. Default: ends this process, with the reason. */
  readonly onLost?: (error: DataLostError) => void;
}

/** A folder whose broker is found out: this process has it, or another one. */
interface Taken {
  readonly owner: BrokerOwner;
  /** Gives the folder free. */
  readonly free: () => void;
  /** Name that another process keeps the data under; `null` where this one has the folder. */
  readonly brokerName: string | null;
}

/**
 * How long a process that has just taken a folder may take to announce that its broker is shared, in ms: it reads
 * configurations before, and `getPlatformProxy` starts its broker.
 */
export const ANNOUNCED_MS_MAX = 5_000;
const LOOK_EVERY_MS = 100;

/**
 * One broker for all `sluice dev` on one data folder: two would each write over what the other has acknowledged. The
 * first has it, and the Workers of the others reach it through Wrangler's dev registry.
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
   * @throws CliError if somebody has the folder whose broker these Workers cannot use, or one of them runs on it
   *   already.
   */
  static async open(options: BrokerOwnershipOptions): Promise<BrokerOwnership> {
    return new BrokerOwnership(options, await take(options));
  }

  get owner(): BrokerOwner {
    return this.#owner;
  }

  /** Whether this process has the broker. */
  get isOwn(): boolean {
    return this.#owner.kind === "own";
  }

  /** Name that the data were kept under when this process came; `null` for what its own files say. */
  get brokerName(): string | null {
    return this.#brokerName;
  }

  /** Whether a session's Workers use the broker of this process. */
  isUsedBy({ data, broker }: Session): boolean {
    return this.isOwn && data === this.#options.data && broker === null;
  }

  /** Whether the process that has the broker is there no more: killed outright, it has told nobody. */
  get isVacant(): boolean {
    return this.#owner.kind === "joined" && !isRunning(this.#owner.leader.pid);
  }

  /**
   * Takes the broker over if its process has ended.
   *
   * @returns what has changed: `null` for nothing.
   * @throws CliError if somebody has the folder now whose broker these Workers cannot use.
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

  /** Gives the folder free. */
  leave(): void {
    this.#free();
  }
}

/** Waits for a process that has the folder and has not announced yet whether its broker is shared. */
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

/** Whether a process that has a folder is one that shares its broker, and has announced none yet. */
function mayAnnounce(holder: Holder | null, { sessions }: BrokerOwnershipOptions): boolean {
  if (holder === null) return true;
  const { pid, command } = holder;
  if (pid === process.pid || !SHARING.includes(command)) return false;
  return !sessions.others().some((one) => one.pid === pid && one.broker !== null);
}

/** @throws CliError where the Workers would not reach a broker of another process. */
function refuseOldWrangler({ wranglerVersion }: BrokerOwnershipOptions, inUse: DataInUseError): void {
  if (!isTooOld(wranglerVersion, SHARING_VERSION_MIN)) return;
  throw new CliError(
    `${inUse.message} To share its broker takes Wrangler ${SHARING_VERSION_MIN} or newer, and this is ` +
      `${wranglerVersion}.`,
  );
}

/** @throws CliError where one of the Workers runs on the folder already. */
function findLeader(options: BrokerOwnershipOptions): Session | undefined {
  const { data, env, files, sessions, command = SLUICE_DEV } = options;
  // Without a Worker there is nobody to use a broker.
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
