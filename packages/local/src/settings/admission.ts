import { randomBytes } from "node:crypto";
import { isBehindProxy, variableText } from "@sluice/protocol";

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/i;

/** Whether only programs of this machine reach a server on an address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * Callers that may use an endpoint of the broker: `everybody` who reaches the address; `known`, those with a credential
 * from the settings or stored in the broker; `nobody` but those with a credential stored in the broker.
 */
export type Permitted = "everybody" | "known" | "nobody";

/** Rules for who may use a broker. */
export interface Admission {
  /** Variables of the broker, with those that admit this process. */
  readonly vars: Readonly<Record<string, unknown>>;
  /** Headers by which the admin API admits this process. */
  readonly headers: Readonly<Record<string, string>>;
  /** Callers of the REST API, the admin API and the metrics. */
  readonly http: Permitted;
  /** Callers of the endpoint of AWS's clients. */
  readonly aws: Permitted;
  /** Token and key that were generated because none were set; to be shown to the user. Default: none. */
  readonly made?: MadeAccess;
}

/** Generated token and key, valid until the process ends. */
interface MadeAccess {
  /** `null` where tokens are set. */
  readonly token: string | null;
  /** An AWS access key and its secret; `null` where keys are set. */
  readonly key: { readonly id: string; readonly secret: string } | null;
}

/** Id of the generated access key. */
const MADE_KEY = "SLUICE";

/**
 * Decides who may use the broker of `sluice serve`.
 *
 * If `SLUICE_ENV` is not set, it becomes `local` on a loopback address that is behind no proxy. Otherwise it stays
 * unset, and the broker is closed until tokens and keys are set. If access keys are set, the other APIs are open only
 * where `SLUICE_ENV` was set to open them: they lead to the same queues.
 *
 * @param vars the broker's variables (`brokerVariables`).
 * @param token secret token by which this process uses the admin API where it is not open to everybody.
 */
export function admit(vars: Readonly<Record<string, unknown>>, host: string, token: string): Admission {
  const given = isLoopback(host) && !isBehindProxy(vars) ? { SLUICE_ENV: "local", ...vars } : vars;
  const isOpen = opensBroker(given);
  const hasKeys = variableText(vars.SLUICE_AWS_ACCESS_KEYS) !== "";
  const aws = hasKeys ? "known" : isOpen ? "everybody" : "nobody";
  const hasTokens = tokensOf(vars).length > 0;
  if (!hasTokens && isOpen && (!hasKeys || vars.SLUICE_ENV !== undefined)) {
    return { vars: given, headers: {}, http: "everybody", aws };
  }
  return {
    vars: { ...given, SLUICE_PROCESS_TOKEN: token },
    headers: { authorization: `Bearer ${token}` },
    http: hasTokens ? "known" : "nobody",
    aws,
  };
}

/**
 * Decides who may use the broker of a dev server: on a loopback address everybody, unless tokens or keys are set. On
 * another address clients need a token or key. Those that are not set are generated, and shown at the start. Programs
 * of this machine need them too: workerd does not tell where a request comes from, and a container's port or a proxy
 * would hide it.
 *
 * @param vars the broker's variables. A `SLUICE_ENV` that was set may admit everybody.
 * @param token the token to use where none is set, and the secret of a generated key.
 */
export function admitInDevelopment(
  vars: Readonly<Record<string, unknown>>,
  host: string,
  token: string,
): Admission {
  const [givenToken = null] = tokensOf(vars);
  const keys = variableText(vars.SLUICE_AWS_ACCESS_KEYS);
  const isOpen = isLoopback(host) || opensBroker(vars);
  const made: MadeAccess = {
    token: isOpen || givenToken !== null ? null : token,
    key: isOpen || keys !== "" ? null : { id: MADE_KEY, secret: token },
  };
  const { token: madeToken, key } = made;
  const own = madeToken ?? givenToken;
  return {
    vars: {
      ...vars,
      SLUICE_ENV: "development",
      ...(madeToken === null ? {} : { SLUICE_API_TOKENS: madeToken }),
      ...(key === null ? {} : { SLUICE_AWS_ACCESS_KEYS: `${key.id}:${key.secret}` }),
    },
    headers: own === null ? {} : { authorization: `Bearer ${own}` },
    http: own === null ? "everybody" : "known",
    aws: keys === "" && key === null ? "everybody" : "known",
    ...(madeToken === null && key === null ? {} : { made }),
  };
}

/** Returns the token that admits this process and its user's commands; `null` where none is needed. */
export function tokenIn({ headers }: Pick<Admission, "headers">): string | null {
  return headers.authorization?.replace(/^Bearer /, "") ?? null;
}

/** Whether a broker with these variables is open to everybody who reaches it, unless it has tokens or keys. */
function opensBroker({ SLUICE_ENV: env }: Readonly<Record<string, unknown>>): boolean {
  return env === "development" || env === "local";
}

/** Lists the tokens of `SLUICE_API_TOKENS`, as the broker reads them. */
function tokensOf({ SLUICE_API_TOKENS: tokens }: Readonly<Record<string, unknown>>): string[] {
  return variableText(tokens)
    .split(",")
    .flatMap((one) => one.trim() || []);
}

/** Settings with the credentials for a broker. */
export const ACCESS_SETTINGS = ["SLUICE_API_TOKENS", "SLUICE_AWS_ACCESS_KEYS"] as const;

const TOKEN_BYTES = 24;

/** Makes a random token. */
export function makeToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** Returns the variables with credentials, by which a generated broker admits clients. */
export function accessVariables({ vars }: Pick<Admission, "vars">): Record<string, string> {
  return Object.fromEntries(
    ACCESS_SETTINGS.flatMap((name) => (typeof vars[name] === "string" ? [[name, vars[name]]] : [])),
  );
}

export function isAccessSetting(name: string): boolean {
  return ACCESS_SETTINGS.some((one) => one === name);
}
