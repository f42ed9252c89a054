import { CliError } from "@sluice/project/errors";
import { BROKER_SETTINGS, setVariables } from "@sluice/project/generate/broker-settings";
import type { Project } from "@sluice/project/read/project";
import { variablesForDev } from "@sluice/project/wrangler/wrangler-config";
import { variableText } from "@sluice/protocol";
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
 * Decides who may use the broker of `sluice dev`: by the environment, and by the variables beside the broker's own
 * configuration. A broker without one takes tokens and keys from beside the first Worker's, if `host` is reachable by
 * other machines.
 *
 * @throws CliError for a file that would take away the token or key that keeps others out.
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
    // Wrangler lets variables beside the configuration override those in it.
    const own = await variablesBeside(broker.file, broker.wrangler?.vars);
    const admission = admitInDevelopment({ ...given, ...own }, host, token);
    const blank = ACCESS_SETTINGS.find((name) => own[name]?.replaceAll(",", "").trim() === "");
    if (admission.made !== undefined && blank !== undefined) {
      throw new CliError(
        `${blank} is empty in the variables of ${broker.file}, which would open the broker to everybody who reaches ` +
          `${host}. Give it a value, or take it out.`,
      );
    }
    return admission;
  }
  const isReachable = first !== undefined && !isLoopback(host);
  const beside = isReachable ? await variablesBeside(first.file, first.wrangler.vars) : {};
  return admitInDevelopment({ ...beside, ...given }, host, token);
}

/**
 * Notices changes of the access settings that a broker without a configuration has taken from the first Worker's
 * variables. Wrangler gives changed variables to that Worker only. The broker goes on with those of its start, so that
 * a leaked token still works.
 */
export class AccessChanges {
  readonly #start: Settings;
  #seen: Settings;

  /** @param start the access that the broker was started with. */
  constructor(start: Admission) {
    this.#start = settingsOf(start);
    this.#seen = this.#start;
  }

  /**
   * Names the settings that differ both from the start and from the call before; `null` if none does.
   *
   * @param now the access that a start would decide now.
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

/** Returns the settings that were given, "" for others: generated ones are new at each call. */
function settingsOf({ vars, made }: Admission): Settings {
  const { token = null, key = null } = made ?? {};
  return {
    SLUICE_API_TOKENS: token === null ? variableText(vars.SLUICE_API_TOKENS) : "",
    SLUICE_AWS_ACCESS_KEYS: key === null ? variableText(vars.SLUICE_AWS_ACCESS_KEYS) : "",
  };
}

/**
 * Refuses to let other machines reach another session's broker, which was started without access settings for them.
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
