import type { BrokerEnv } from "@sluice/broker";
import type { Access } from "@sluice/gateway";
import { type PublicAddressSetting, publicAddressIn } from "@sluice/protocol";

/** Reason in a deployed broker's answers until its settings admit clients. */
const CLOSED =
  "This broker has no tokens, so its HTTP API is closed: otherwise any client could use it. Set the secret " +
  "SLUICE_API_TOKENS to one or more tokens, separated by commas (wrangler secret put SLUICE_API_TOKENS). On a " +
  "machine of your own, where everybody who reaches the port may use it, set the variable SLUICE_ENV to local " +
  "instead.";

type AccessEnv = Pick<
  BrokerEnv,
  | "SLUICE_API_TOKENS"
  | "SLUICE_PROCESS_TOKEN"
  | "SLUICE_ALLOWED_HOSTS"
  | "SLUICE_ROUTE_HOSTS"
  | "SLUICE_ENV"
  | "SLUICE_PUBLIC_URL"
  | "SLUICE_TRUST_PROXY"
>;

/**
 * Reads who may use the HTTP APIs: clients with one of `SLUICE_API_TOKENS` or the process's own token. Without tokens
 * it is every client where the broker runs on a developer's machine (`SLUICE_ENV` is `development` or `local`), else
 * none.
 */
export function accessOf(env: AccessEnv): Access {
  const publicAddress = publicAddressOf(env);
  const tokens = listIn(env.SLUICE_API_TOKENS);
  const { SLUICE_PROCESS_TOKEN: processToken = "" } = env;
  if (processToken !== "") return { kind: "tokens", tokens, processToken, publicAddress };
  if (tokens.length > 0) return { kind: "tokens", tokens, publicAddress };
  if (env.SLUICE_ENV === "development" || env.SLUICE_ENV === "local") {
    return {
      kind: "open",
      hosts: [
        ...listIn(env.SLUICE_ALLOWED_HOSTS),
        ...(typeof publicAddress === "object" && publicAddress !== null ? [publicAddress.hostname] : []),
      ],
      routeHosts: listIn(env.SLUICE_ROUTE_HOSTS),
      publicAddress,
    };
  }
  return { kind: "closed", reason: CLOSED, publicAddress };
}

/** Reads the address of the broker for clients; `null` for an invalid setting, which the AWS endpoint reports. */
export function publicAddressOf(
  env: Pick<BrokerEnv, "SLUICE_PUBLIC_URL" | "SLUICE_TRUST_PROXY">,
): PublicAddressSetting {
  try {
    return publicAddressIn(env);
  } catch {
    return null;
  }
}

function listIn(text: string | undefined): string[] {
  return (text ?? "").split(",").flatMap((entry) => entry.trim() || []);
}
