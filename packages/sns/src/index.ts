export {
  canBeDeadLetter,
  classOfStatus,
  deadLetterAttributes,
  deliveryHeaders,
  notificationOf,
} from "./delivery.ts";
export type { SignatureVersion } from "./envelope.ts";
export { matchesFilterPolicy } from "./filter/match.ts";
export { filterPolicyFault, parseFilterPolicy } from "./filter/parse.ts";
export {
  FILTER_POLICY_SCOPES,
  type FilterPolicyScope,
  filterScopeOf,
} from "./filter/policy.ts";
export { buildConfirmation, buildNotification, type Signing } from "./messages.ts";
export { openSigner, type Signer } from "./signer.ts";
export { certificateFileName, createSigningIdentity, type SigningIdentity } from "./signing-identity.ts";
