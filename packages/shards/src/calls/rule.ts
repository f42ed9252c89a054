import type { Answer, Arguments, Method } from "./queue-rpc.ts";
import type { Shards } from "./shards.ts";

/** Rule by which a call goes to shards, and one answer is made of theirs. */
export type Rule<Of extends Method> = (shards: Shards, ...rest: Arguments<Of>) => Promise<Answer<Of>>;

/** A rule for each method. */
export type Rules<Methods extends Method> = { readonly [Of in Methods]: Rule<Of> };
