import dns, { type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { refusalOfAddress, type TargetRules } from "@sluice/broker";

/** Resolves a name to all of its addresses, as the system does. */
export type Resolve = (
  hostname: string,
  family: number | "IPv4" | "IPv6" | undefined,
) => Promise<LookupAddress[]>;

export const systemResolve: Resolve = async (hostname, family) =>
  dns.promises.lookup(hostname, { all: true, ...(family === undefined ? {} : { family }) });

/**
 * Makes the lookup of a URL's name for a new connection, without addresses that may not be called. The check and the
 * connection use the same lookup, because a name may resolve to another address the next time.
 */
export function checkedLookup(url: URL, rules: TargetRules, resolve: Resolve): LookupFunction {
  return (hostname, { all, family }, callback) => {
    resolve(hostname, family).then(
      (addresses) => {
        const refusals = addresses.map(({ address }) => refusalOfAddress(url, address, rules));
        const [first, ...others] = addresses.filter((_, i) => refusals[i] === null);
        // A resolver that finds no address rejects.
        if (first === undefined) callback(new RefusedAddress(refusals[0] ?? ""), "");
        else if (all === true) callback(null, [first, ...others]);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, ""),
    );
  };
}

/** Error for a name without an address that may be called. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";
}
