import { callsPrivateHosts } from "@sluice/protocol";

/** Rules for the hosts that may be called. */
export interface TargetRules {
  /** Whether this machine and its network may be called too (`callsPrivateHosts`). */
  readonly privateAllowed: boolean;
  /** Hosts, with or without a port, that may be called at any address. Lower case. */
  readonly allowedHosts: readonly string[];
}

/** Reads the rules from the broker's environment variables. Listed hosts are separated by commas. */
export function targetRulesOf(
  env: Readonly<Record<string, unknown>> & { readonly SLUICE_PUSH_HOSTS?: string },
): TargetRules {
  const names = (env.SLUICE_PUSH_HOSTS ?? "").split(",").map((name) => name.trim().toLowerCase());
  return { privateAllowed: callsPrivateHosts(env), allowedHosts: names.filter((name) => name !== "") };
}

/**
 * Returns why a URL may not be called, `null` if it may. A user who configures a queue's endpoint must not get into the
 * broker's own network. Looks at the URL alone: the address of a name is checked when a connection is made, by
 * `refusalOfAddress` on Node.js, by the platform elsewhere.
 */
export function refusalOfTarget(text: string, rules: TargetRules): string | null {
  const url = URL.parse(text);
  if (url === null) {
    return text.startsWith("$") ? `the environment variable ${text.slice(1)} is not set` : "it is no URL";
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return "only http: and https: can be called";
  if (url.username !== "" || url.password !== "") return "it has a user and a password in it";
  if (arePrivateAllowed(url, rules)) return null;
  const hostname = withoutDots(url.hostname);
  return isPrivateHost(hostname) ? notPublic(`"${hostname}"`) : null;
}

/**
 * Returns why the name in a URL may not be called at an address that it resolves to, `null` if it may.
 *
 * @param address as resolvers write it. One that cannot be parsed may not be called.
 */
export function refusalOfAddress(url: URL, address: string, rules: TargetRules): string | null {
  if (arePrivateAllowed(url, rules) || !isPrivateAddress(address)) return null;
  return notPublic(`"${url.hostname}" is at ${address}, which`);
}

/** Whether a host may be called at any address. */
export function arePrivateAllowed(url: URL, { privateAllowed, allowedHosts }: TargetRules): boolean {
  const hostname = withoutDots(url.hostname);
  // A URL leaves out the default port of its scheme, which a list may have.
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return privateAllowed || allowedHosts.includes(hostname) || allowedHosts.includes(`${hostname}:${port}`);
}

/** Removes dots at the end of a name, which is the same host without them. */
function withoutDots(hostname: string): string {
  return hostname.replace(/\.+$/, "");
}

function notPublic(what: string): string {
  return `${what} is not public: private addresses are called in development, or when SLUICE_PUSH_HOSTS lists the host`;
}

function isPrivateAddress(address: string): boolean {
  if (/^\d+(\.\d+){3}$/.test(address)) return isPrivateV4(address.split(".").map(Number));
  // The URL parser writes each address in one way. It parses none with a zone, which is always of a local network.
  const hostname = URL.parse(`http://[${address}]/`)?.hostname;
  return hostname === undefined || isPrivateV6(hostname.slice(1, -1));
}

/** Names of the machine or its network; `svc` is of a Kubernetes cluster. */
const PRIVATE_NAMES =
  /(^|\.)(localhost|localdomain|local|internal|intranet|lan|home|corp|private|svc|test|invalid|home\.arpa)$/;

/** Whether a host is private. The URL parser has turned every spelling of an IPv4 address into four numbers. */
function isPrivateHost(hostname: string): boolean {
  if (hostname.startsWith("[")) return isPrivateV6(hostname.slice(1, -1));
  const numbers = hostname.split(".").map(Number);
  if (numbers.length === 4 && /^[\d.]+$/.test(hostname)) return isPrivateV4(numbers);
  // A name without a dot is of the local network.
  return !hostname.includes(".") || PRIVATE_NAMES.test(hostname);
}

/** Whether an address is not globally reachable by IANA's registry of special-purpose addresses. */
function isPrivateV4([a = 0, b = 0, c = 0]: readonly number[]): boolean {
  return (
    a === 0 ||
    a === 10 ||
    a === 127 ||
    a >= 224 ||
    (a === 100 && b >= 64 && b <= 127) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b <= 31) ||
    (a === 192 && b === 168) ||
    (a === 192 && b === 0 && (c === 0 || c === 2)) ||
    (a === 198 && (b === 18 || b === 19)) ||
    (a === 198 && b === 51 && c === 100) ||
    (a === 203 && b === 0 && c === 113)
  );
}

/** Whether an address is private, in the shortest form: eight groups with the longest run of zeros left out. */
function isPrivateV6(address: string): boolean {
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array<string>(tail === undefined ? 0 : 8 - left.length - right.length).fill("0");
  const groups = [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
  const [first = 0, second = 0] = groups;
  const v4 = [6, 7].flatMap((i) => [(groups[i] ?? 0) >> 8, (groups[i] ?? 0) & 255]);
  const isAllZero = (from: number, to: number) => groups.slice(from, to).every((group) => group === 0);
  // ::, ::1, IPv4 in IPv6 (mapped, compatible, translated), 6to4.
  if (isAllZero(0, 5) && (groups[5] === 0 || groups[5] === 0xffff)) return isAllZero(0, 7) || isPrivateV4(v4);
  if (isAllZero(0, 4) && groups[4] === 0xffff) return isPrivateV4(v4);
  if (first === 0x64 && second === 0xff9b) return !isAllZero(2, 6) || isPrivateV4(v4);
  if (first === 0x2002) return isPrivateV4([second >> 8, second & 255, (groups[2] ?? 0) >> 8]);
  // Only 2000::/3 is global, except documentation, Teredo and other protocol assignments.
  if (first === 0x2001) return second < 0x200 || second === 0xdb8;
  return (first & 0xe000) !== 0x2000 || (first === 0x3fff && second < 0x1000);
}
