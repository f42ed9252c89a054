import { CliError } from "@sluice/project/errors";
import { BROKER_SETTINGS, setVariables } from "@sluice/project/generate/broker-settings";
import type { Project } from "@sluice/project/read/project";
import { variablesForDev } from "@sluice/project/wrangler/wrangler-config";
import type { BrokerOwner } from "../data/broker-ownership.ts";
import {
  ACCESS_SETTINGS,
  type Admission,
  admitInDevelopment,
  isAccessSetting,
  isLoopback,
  makeToken,
} from "../settings/admission.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Facts that decide who may use the broker of `sluice dev`. */
export interface DevAccessInput {
  /** Address to listen on. */
  readonly host: string;
  /** The environment, "" for the top level. */
  readonly env: string;
  /** Files of variables that `--env-file` names. */
  readonly envFiles: readonly string[];
  /** Variables of the command's own environment. */
  readonly environment: Environment;
}

/**
 * Decides who may use the broker of `sluice dev`, by the environment, and by the `.dev.vars` of the broker's own
 * folder. A broker without one takes tokens and keys from that of the first Worker, where other machines reach it.
 *
 * @throws CliError for a file that would take away what keeps others out.
 */
export async function devAccess({ workers, broker }: Project, input: DevAccessInput): Promise<Admission> {
  const { host, env, envFiles, environment } = input;
  const given = setVariables(["SLUICE_ENV", ...BROKER_SETTINGS], environment);
  const files = envFiles.length === 0 ? undefined : [...envFiles];
  const variablesBeside = async (file: string, vars: Record<string, unknown> = {}) =>
    Object.fromEntries(
      Object.entries(await variablesForDev(file, files, vars as never, env, true)).flatMap(
        ([name, { value }]) => (isAccessSetting(name) && typeof value === "string" ? [[name, value]] : []),
      ),
    );
  const [first] = workers;
  const token = makeToken();
  if (broker.file !== null) {
    // Wrangler has what is beside the configuration count before what the configuration is given.
    const own = await variablesBeside(broker.file, broker.wrangler?.vars);
    const admission = admitInDevelopment({ ...given, ...own }, host, token);
    const blank = ACCESS_SETTINGS.find((name) => own[name]?.trim() === "");
    if (admission.made !== undefined && blank !== undefined) {
      throw new CliError(
        `${blank} is empty in the variables of ${broker.file}, which would open the broker to everybody who reaches ` +
          `${host}. Give it a value, or take it out.`,
      );
    }
    return admission;
  }
  const isShared = first !== undefined && !isLoopback(host);
  const beside = isShared ? await variablesBeside(first.file, first.wrangler.vars) : {};
  return admitInDevelopment({ ...beside, ...given }, host, token);
}

/**
 * Changes of the settings that a broker without a folder has taken from the variables of the first Worker. Wrangler
 * gives changed variables to that Worker; the broker goes on with those of its start, which let in who has a leaked
 * token too.
 */
export class AccessChanges {
  readonly #start: Settings;
  #seen: Settings;

  /** @param start what the broker goes by. */
  constructor(start: Admission) {
    this.#start = settingsOf(start);
    this.#seen = this.#start;
  }

  /**
   * Names the settings that are others than at the start, and than at the call before; `null` if none is.
   *
   * @param now what a start would decide now.
   */
  noticeOf({ workers, broker }: Project, now: Admission): string | null {
    const before = this.#seen;
    const settings = settingsOf(now);
    this.#seen = settings;
    const [first] = workers;
    if (broker.file !== null || first === undefined) return null;
    const changed = ACCESS_SETTINGS.filter(
      (name) => settings[name] !== before[name] && settings[name] !== this.#start[name],
    );
    if (changed.length === 0) return null;
    return (
      `${changed.join(" and ")} ${changed.length === 1 ? "has" : "have"} changed in the variables of ${first.file}, or in the .dev.vars beside it. ` +
      'The broker goes on with what it had at the start until "sluice dev" is started again.'
    );
  }
}

type Settings = Readonly<Record<(typeof ACCESS_SETTINGS)[number], string>>;

/** Settings that somebody has set, "" for others: what is made is another one each time. */
function settingsOf({ vars, made }: Admission): Settings {
  const given = (name: string) => (typeof vars[name] === "string" ? vars[name].trim() : "");
  const { token = null, key = null } = made ?? {};
  return {
    SLUICE_API_TOKENS: token === null ? given("SLUICE_API_TOKENS") : "",
    SLUICE_AWS_ACCESS_KEYS: key === null ? given("SLUICE_AWS_ACCESS_KEYS") : "",
  };
}

/**
 * Refuses to lead other machines to the broker of another session, which does not know of them.
 *
 * @throws CliError
 */
export function refuseLeading(owner: BrokerOwner, host: string, { made }: Pick<Admission, "made">): void {
  if (owner.kind === "own" || made === undefined) return;
  throw new CliError(
    `The broker of this data folder runs in another process (${owner.leader.pid}) and knows nothing of other machines, ` +
      `which would reach it through ${host}. Run these Workers in that "sluice dev", leave --ip out, or choose ` +
      "another folder with --persist-to.",
  );
}
