import { CliError } from "@sluice/project/errors";
import { isRunning } from "@sluice/project/processes";
import { isTooOld, SHARING_VERSION_MIN } from "@sluice/project/wrangler/load-wrangler";
import type { Session, Sessions } from "../processes/sessions.ts";
import { DataInUseError, type DataLostError, lockData } from "./data-lock.ts";
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

/**
 * One broker for all `sluice dev` on one data folder: two would each write over what the other has acknowledged. The
 * first has it, and the Workers of the others reach it through Wrangler's dev registry.
 */
export class BrokerOwnership {
  readonly #options: BrokerOwnershipOptions;
  #owner: BrokerOwner;
  #free: () => void = () => undefined;
  #brokerName: string | null = null;

  /**
   * @throws CliError if somebody has the folder whose broker these Workers cannot use, or one of them runs on it
   * already.
   */
  constructor(options: BrokerOwnershipOptions) {
    this.#options = options;
    this.#owner = this.#take();
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
  change(): BrokerOwner | null {
    if (this.#owner.kind === "own") return null;
    const before = this.#owner.leader.pid;
    this.#owner = this.#take();
    return this.#owner.kind === "own" || this.#owner.leader.pid !== before ? this.#owner : null;
  }

  /** Gives the folder free. */
  leave(): void {
    this.#free();
  }

  #take(): BrokerOwner {
    try {
      const { data, command = SLUICE_DEV, onLost } = this.#options;
      refuseLongPath(data);
      this.#free = lockData(data, command, onLost);
      return { kind: "own" };
    } catch (error) {
      const leader = error instanceof DataInUseError ? this.#findLeader() : undefined;
      if (leader === undefined) throw error;
      this.#refuseOldWrangler(error);
      this.#brokerName = leader.broker;
      return { kind: "joined", leader };
    }
  }

  /** @throws CliError where the Workers would not reach a broker of another process. */
  #refuseOldWrangler(inUse: unknown): void {
    const { wranglerVersion } = this.#options;
    if (!isTooOld(wranglerVersion, SHARING_VERSION_MIN)) return;
    throw new CliError(
      `${inUse instanceof Error ? inUse.message : inUse} To share its broker takes Wrangler ` +
        `${SHARING_VERSION_MIN} or newer, and this is ${wranglerVersion}.`,
    );
  }

  #findLeader(): Session | undefined {
    const { data, env, files, sessions, command = SLUICE_DEV } = this.#options;
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
}
