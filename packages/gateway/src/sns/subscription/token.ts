/** Digits of a token that confirms a subscription (spec sns-delivery 8.2). */
const TOKEN_DIGITS = 288;
/** Digits at its beginning that say which region its topic is in: two for each letter. */
const REGION_DIGITS = 64;

const TOKEN = new RegExp(`^[0-9a-f]{${TOKEN_DIGITS}}$`);

/** A token that nobody can guess, for a topic of a region. */
export function newToken(region: string): string {
  const bytes = new TextEncoder().encode(region);
  const random = crypto.getRandomValues(new Uint8Array((TOKEN_DIGITS - REGION_DIGITS) / 2));
  return hexOf(bytes).padEnd(REGION_DIGITS, "0").slice(0, REGION_DIGITS) + hexOf(random);
}

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The region in which a token confirms. */
export function regionOfToken(token: string): string {
  const digits = token.slice(0, REGION_DIGITS).replace(/(00)+$/, "");
  return (digits.match(/../g) ?? []).map((pair) => String.fromCharCode(Number.parseInt(pair, 16))).join("");
}

function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
