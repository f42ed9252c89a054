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
 * The way from a URL's name to addresses, for a connection that is being made: those that may not be called are left
 * out, and the connection is made to one of the others. So no name resolves to one address when it is checked and to
 * another when it is called.
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

/** A name leads to nothing that may be called. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";
}
