/** An address of IPv4 or IPv6. */
export interface Address {
  /** 32 or 128. */
  readonly bits: number;
  readonly value: bigint;
}

export interface Network extends Address {
  readonly prefixBits: number;
}

/** Characters of the longest address: six groups of IPv6 and an address of IPv4. */
const ADDRESS_LENGTH_MAX = 45;

/** Reads an address of IPv4 or IPv6; `null` for any other text. */
export function parseAddress(text: string): Address | null {
  // Messages have texts of any length, and the time to split one of dots and colons grows with the square of its
  // length.
  if (text.length > ADDRESS_LENGTH_MAX) return null;
  return text.includes(":") ? parseV6(text) : parseV4(text);
}

/** Reads `address/bits`; `null` for any other text. Bits behind the prefix are ignored. */
export function parseNetwork(text: string): Network | null {
  const [, addressText = "", bitsText = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = parseAddress(addressText);
  const prefixBits = Number(bitsText);
  return address === null || bitsText === "" || prefixBits > address.bits ? null : { ...address, prefixBits };
}

/** Whether an address is one of a network; of another family it never is. */
export function isInNetwork(address: Address, network: Network): boolean {
  const shift = BigInt(network.bits - network.prefixBits);
  return address.bits === network.bits && address.value >> shift === network.value >> shift;
}

function parseV4(text: string): Address | null {
  const parts = text.split(".");
  const isNumber = (part: string) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255;
  if (parts.length !== 4 || !parts.every(isNumber)) return null;
  return { bits: 32, value: parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n) };
}

function parseV6(text: string): Address | null {
  const lastV4 = /^(.*:)([^:]*\.[^:]*)$/.exec(text);
  if (lastV4 !== null) {
    const v4 = parseV4(lastV4[2] ?? "");
    if (v4 === null) return null;
    return parseV6(`${lastV4[1]}${(v4.value >> 16n).toString(16)}:${(v4.value & 0xffffn).toString(16)}`);
  }
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const [left = [], right = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - left.length - right.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...left, ...Array<string>(missing).fill("0"), ...right];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return { bits: 128, value: groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n) };
}
