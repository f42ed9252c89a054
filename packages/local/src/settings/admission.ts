import { randomBytes } from "node:crypto";
import { isBehindProxy } from "@sluice/protocol";

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/i;

/** Whether nobody but programs of this machine reaches a server on an address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * Callers that may use one of the broker's sides: everybody who reaches the address, those who bring a credential that
 * the settings or the broker know, or only those whom the broker itself knows.
 */
export type Permitted = "everybody" | "known" | "nobody";

/**
 * Headers that the admin API admits this process by, the broker's variables for them, and who else may use the broker.
 */
export interface Admission {
  readonly vars: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** The REST API, the admin API and the metrics. */
  readonly http: Permitted;
  /** The endpoint of AWS's clients. */
  readonly aws: Permitted;
  /** Token and key that were made because nobody has set any, to be shown. Default: none. */
  readonly made?: MadeAccess;
}

/** Token and key that let in their reader, until the process ends. */
interface MadeAccess {
  /** `null` where there are tokens. */
  readonly token: string | null;
  /** A key of AWS's and its secret; `null` where there are keys. */
  readonly key: { readonly id: string; readonly secret: string } | null;
}

/** Id of the access key that is made. */
const MADE_KEY = "SLUICE";

/**
 * Decides who may use the broker, and lets this process use its admin API where not everybody may: by a token that
 * nobody else knows.
 *
 * Where no variable says what `SLUICE_ENV` is, it is `local` on an address of this machine alone, and not set on any
 * other, nor behind a proxy: then the broker is closed until there are tokens and keys. With access keys it is not
 * taken for granted that everybody may use the same queues by the other APIs: those are open if `SLUICE_ENV` says so
 * itself.
 *
 * @param vars the broker's (`brokerVariables`).
 */
export function admit(vars: Readonly<Record<string, unknown>>, host: string, token: string): Admission {
  const given = isLoopback(host) && !isBehindProxy(vars) ? { SLUICE_ENV: "local", ...vars } : vars;
  const isOpen = opensBroker(given);
  const hasKeys = textOf(vars.SLUICE_AWS_ACCESS_KEYS) !== "";
  const aws = hasKeys ? "known" : isOpen ? "everybody" : "nobody";
  const tokens = textOf(vars.SLUICE_API_TOKENS);
  if (tokens === "" && isOpen && (!hasKeys || vars.SLUICE_ENV !== undefined)) {
    return { vars: given, headers: {}, http: "everybody", aws };
  }
  return {
    vars: { ...given, SLUICE_PROCESS_TOKEN: token },
    headers: { authorization: `Bearer ${token}` },
    http: tokens === "" ? "nobody" : "known",
    aws,
  };
}

/**
 * Decides who may use the broker of somebody who develops: everybody on an address of this machine alone, unless there
 * are tokens or keys. Other machines have to bring one: what nobody has set is made, and shown at the start. Then this
 * machine's programs have to bring it too. workerd does not say where a request comes from, and through the port of a
 * container or a proxy it seems to come from another machine, or from this one.
 *
 * @param vars the broker's. `SLUICE_ENV` is there if somebody has set it, and lets everybody in by what it says.
 */
export function admitInDevelopment(
  vars: Readonly<Record<string, unknown>>,
  host: string,
  token: string,
): Admission {
  const [tokens, keys] = [textOf(vars.SLUICE_API_TOKENS), textOf(vars.SLUICE_AWS_ACCESS_KEYS)];
  const isOpen = isLoopback(host) || opensBroker(vars);
  const made: MadeAccess = {
    token: isOpen || tokens !== "" ? null : token,
    key: isOpen || keys !== "" ? null : { id: MADE_KEY, secret: token },
  };
  const { token: madeToken, key } = made;
  const [own = ""] = (madeToken ?? tokens).split(",").map((one) => one.trim());
  return {
    vars: {
      ...vars,
      SLUICE_ENV: "development",
      ...(madeToken === null ? {} : { SLUICE_API_TOKENS: madeToken }),
      ...(key === null ? {} : { SLUICE_AWS_ACCESS_KEYS: `${key.id}:${key.secret}` }),
    },
    headers: own === "" ? {} : { authorization: `Bearer ${own}` },
    http: own === "" ? "everybody" : "known",
    aws: keys === "" && key === null ? "everybody" : "known",
    ...(madeToken === null && key === null ? {} : { made }),
  };
}

/** A token that lets this process, and its user's commands, in; `null` where none is asked for. */
export function tokenIn({ headers }: Pick<Admission, "headers">): string | null {
  return headers.authorization?.replace(/^Bearer /, "") ?? null;
}

/** Whether a broker with these variables is open to everybody who reaches it, unless it has tokens or keys. */
function opensBroker({ SLUICE_ENV: env }: Readonly<Record<string, unknown>>): boolean {
  return env === "development" || env === "local";
}

function textOf(variable: unknown): string {
  return typeof variable === "string" ? variable.trim() : "";
}

/** Settings that say who may use a broker. */
export const ACCESS_SETTINGS = ["SLUICE_API_TOKENS", "SLUICE_AWS_ACCESS_KEYS"] as const;

const TOKEN_BYTES = 24;

/** A token that nobody guesses. */
export function makeToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** Those of the variables by which a generated broker lets in who is admitted. */
export function accessVariables({ vars }: Pick<Admission, "vars">): Record<string, string> {
  return Object.fromEntries(
    ACCESS_SETTINGS.flatMap((name) => (typeof vars[name] === "string" ? [[name, vars[name]]] : [])),
  );
}

export function isAccessSetting(name: string): boolean {
  return ACCESS_SETTINGS.some((one) => one === name);
}
