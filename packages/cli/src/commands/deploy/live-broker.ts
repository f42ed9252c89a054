import type { Printer } from "@sluice/local/report/printer";
import { CliError } from "@sluice/project/errors";
import { type Register, readRegister } from "@sluice/project/register/register";
import { mergeRegisters } from "@sluice/project/register/serve-projects";
import type { CloudflareApi } from "./cloudflare-api.ts";
import { markOf } from "./messages.ts";

/** The broker on an account. */
export interface LiveBroker {
  readonly isThere: boolean;
  /** Version that gets the requests; `null` for a Worker without one. */
  readonly version: string | null;
  /** Register of the projects that it serves; `null` for a broker without a version. */
  readonly register: Register | null;
  /** The register of the live version alone. A version that is deployed at the same time may be missing in it. */
  readonly ownRegister: Register | null;
  /** Workers that it is bound to. */
  readonly services: readonly string[];
}

/**
 * Reads the deployed state of a broker.
 *
 * @param since id of the live version at an earlier reading; `null` where the broker did not exist then. The registers
 *   of this version and all later ones are merged, since each may have been uploaded without knowledge of the others.
 *   Default: the live version counts alone.
 * @throws CliError for a Worker of that name that is not a broker of ours.
 */
export async function readLiveBroker(
  api: CloudflareApi,
  name: string,
  since?: string | null,
): Promise<LiveBroker> {
  const ids = await api.deployed(name);
  const version = ids?.at(-1) ?? null;
  if (ids === null || version === null) {
    return { isThere: ids !== null, version, register: null, ownRegister: null, services: [] };
  }
  const counted = since === undefined ? [version] : ids.slice(Math.max(0, ids.lastIndexOf(since ?? "")));
  const versions = await Promise.all(counted.map((id) => api.version(name, id)));
  const registers = versions.flatMap(({ bindings, message }) => {
    const register = readRegister(name, bindings);
    // A deployment that changes no queue uploads the register as it was, with the project that made it.
    return register === null ? [] : { ...register, by: markOf(message)?.project ?? register.by };
  });
  const ownRegister = readRegister(name, versions.at(-1)?.bindings ?? []);
  if (ownRegister === null) {
    throw new CliError(
      `The Worker "${name}" on the account is no broker that Sluice has deployed. Give the broker another name, by ` +
        `broker = "..." below [sluice] in a configuration or by --broker, or delete that Worker.`,
    );
  }
  const services = new Set(versions.flatMap((one) => one.services));
  const register = mergeRegisters(registers);
  return { isThere: true, version, register, ownRegister, services: [...services] };
}

/** Error for a broker that another deployment has changed since this one read it. */
export class BrokerChanged extends CliError {
  constructor() {
    super("The broker was deployed by something else in between. Run the same command again.");
  }
}

const UNSEEN =
  "The broker is deployed, and whether another repository has deployed it at the same moment is not known. Run the same " +
  "command again to go on. If one has, deploy that one again too.";

/**
 * Guards uploads of a broker against uploads from other repositories. Cloudflare's API makes no conditional uploads, so
 * the live version is read right before each upload and right after it. The second look finds an upload that came in
 * between, whose register is in its own version.
 */
export class BrokerWatch {
  readonly #api: CloudflareApi;
  readonly #name: string;
  /** The last version whose register is known. */
  known: string | null;

  constructor(api: CloudflareApi, name: string, known: string | null) {
    this.#api = api;
    this.#name = name;
    this.known = known;
  }

  /** @throws BrokerChanged where another version than the known one is live. */
  async refuseChange(): Promise<void> {
    if ((await this.#later()).length > 0) throw new BrokerChanged();
  }

  /** @throws BrokerChanged where something else has deployed the broker, before or during the upload. */
  async guard<T>(upload: () => Promise<T>): Promise<T> {
    await this.refuseChange();
    const done = await upload();
    const [own, ...others] = await this.#later().catch((error: unknown) => {
      throw error instanceof CliError ? new CliError(`${UNSEEN} ${error.message}`) : error;
    });
    if (others.length > 0) throw new BrokerChanged();
    this.known = own ?? this.known;
    return done;
  }

  /** Lists the versions that were deployed after the known one. */
  async #later(): Promise<string[]> {
    const ids = (await this.#api.deployed(this.#name)) ?? [];
    return this.known === null ? ids : ids.slice(ids.lastIndexOf(this.known) + 1);
  }
}

/** Most times that a command is planned, while other deployments change the broker. */
const PLANS_MAX = 6;
const CHANGED_TOO_OFTEN =
  "The broker is deployed by something else again and again. Run the same command once that has ended.";

/** Runs a command on the live broker, and again where another deployment has changed it in between. */
export async function untilAlone(
  api: CloudflareApi,
  name: string,
  printer: Printer,
  run: (live: LiveBroker, watch: BrokerWatch) => Promise<number>,
): Promise<number> {
  let since: string | null | undefined;
  for (let plans = 1; ; plans++) {
    const live = await readLiveBroker(api, name, since);
    const watch = new BrokerWatch(api, name, live.version);
    try {
      return await run(live, watch);
    } catch (error) {
      if (!(error instanceof BrokerChanged)) throw error;
      since = watch.known;
      if (plans === PLANS_MAX) throw new CliError(CHANGED_TOO_OFTEN);
      printer.print("\nThe broker was deployed by something else in between, so this is planned anew.\n");
    }
  }
}
