export * from "./delivery.ts";
export * from "./envelope.ts";
export * from "./filter/invalid-filter-policy.ts";
export * from "./filter/match.ts";
export * from "./filter/parse.ts";
export {
  FILTER_POLICY_SCOPES,
  type FilterPolicy,
  type FilterPolicyScope,
} from "./filter/policy.ts";
export * from "./messages.ts";
export * from "./signer.ts";
export * from "./signing-identity.ts";
