import { ACCOUNT_DEFAULT, parseAccessKeys, parseAccountId } from "@sluice/aws";
import type { BrokerEnv } from "@sluice/broker";
import { type AwsAccess, type AwsOptions, REGION_DEFAULT, refusedPage } from "@sluice/gateway";
import { isReservedActor, publicAddressIn } from "@sluice/protocol";
import { accessOf, publicAddressOf } from "./access.ts";

type AwsEnv = Pick<
  BrokerEnv,
  | "SLUICE_AWS_ACCESS_KEYS"
  | "SLUICE_AWS_REGION"
  | "SLUICE_AWS_ACCOUNT_ID"
  | "SLUICE_AWS_STRICT_TIMING"
  | "SLUICE_ALLOWED_HOSTS"
  | "SLUICE_ROUTE_HOSTS"
  | "SLUICE_ENV"
  | "SLUICE_PUBLIC_URL"
  | "SLUICE_TRUST_PROXY"
>;

/** Reason in a deployed broker's answers to AWS's clients until its settings admit clients. */
const CLOSED =
  "This broker has no access keys, so its AWS endpoint is closed: otherwise any client could use it. Set the " +
  "secret SLUICE_AWS_ACCESS_KEYS to KEY:SECRET, several of them separated by commas (wrangler secret put " +
  "SLUICE_AWS_ACCESS_KEYS), or create one: sluice tokens create NAME --aws --scope admin.";

/**
 * Reads the settings of the AWS endpoint. Clients that sign with one of `SLUICE_AWS_ACCESS_KEYS` may use it; without
 * keys it is every client where the broker runs on a developer's machine, else none.
 */
export function awsOf(env: AwsEnv, { isOnWorkerd }: { readonly isOnWorkerd: boolean }): AwsOptions {
  return {
    access: awsAccessOf(env),
    publicAddress: publicAddressOf(env),
    settings: {
      home: {
        region: env.SLUICE_AWS_REGION || REGION_DEFAULT,
        account: env.SLUICE_AWS_ACCOUNT_ID || ACCOUNT_DEFAULT,
      },
      isStrictAboutTime: env.SLUICE_AWS_STRICT_TIMING === "true",
      // Cloudflare's edge notices clients that go, and so does Node.js.
      looksForClients: isOnWorkerd && (env.SLUICE_ENV === "development" || env.SLUICE_ENV === "local"),
    },
  };
}

function awsAccessOf(env: AwsEnv): AwsAccess {
  try {
    if (env.SLUICE_AWS_ACCOUNT_ID) parseAccountId(env.SLUICE_AWS_ACCOUNT_ID);
    publicAddressIn(env);
    if (env.SLUICE_AWS_ACCESS_KEYS) {
      return { kind: "keys", secrets: parseAccessKeys(env.SLUICE_AWS_ACCESS_KEYS, isReservedActor) };
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { kind: "closed", reason: `This broker's AWS endpoint is closed: ${error.message}.` };
  }
  // The tokens of Cloudflare's API do not count for AWS's clients.
  const access = accessOf({ ...env, SLUICE_API_TOKENS: "", SLUICE_PROCESS_TOKEN: "" });
  if (access.kind !== "open") return { kind: "keys", secrets: new Map(), whenNone: CLOSED };
  return { kind: "open", pages: (request, effect) => refusedPage(access, request, effect) };
}
