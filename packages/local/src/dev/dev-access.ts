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
