import { networkInterfaces } from "node:os";
import type { Project } from "@sluice/project/read/project";
import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import { callsPrivateHosts, isBehindProxy } from "@sluice/protocol";
import { type Admission, isLoopback, type Permitted } from "../settings/admission.ts";

/**
 * Returns the URL of the primary Worker, without a slash at its end.
 *
 * @param wranglerArguments arguments passed on to Wrangler. Their `--local-protocol` overrides the configuration.
 */
export function urlOf(
  { host, port }: { readonly host: string; readonly port: number },
  { workers, broker }: Project,
  wranglerArguments: readonly string[],
): string {
  const settings = (workers[0]?.wrangler ?? broker.wrangler)?.dev;
  const protocol = optionIn("--local-protocol", wranglerArguments) ?? settings?.local_protocol ?? "http";
  return `${protocol}://${browsable(host)}:${port}`;
}

/** Returns the value of an option that is written `--name value` or `--name=value`; the last one counts. */
function optionIn(name: string, args: readonly string[]): string | undefined {
  const at = args.findLastIndex((arg) => arg === name || arg.startsWith(`${name}=`));
  return args[at] === name ? args[at + 1] : args[at]?.slice(name.length + 1);
}

/** Returns the URL of an address that is served without TLS, without a slash at its end. */
export function httpUrl(host: string, port: number): string {
  return `http://${browsable(host)}:${port}`;
}

/** Formats the addresses of the primary Worker and the broker, and the data folder if one is given. */
export function addresses(url: string, { workers }: Project, dataFolder: string | null = null): string {
  const [primary] = workers;
  const lines: (readonly [label: string, where: string])[] = [
    ...(primary === undefined ? [] : [[primary.name, `${url}/`] as const]),
    ["queues", `${url}${SLUICE_PATH}/`],
    ["admin", `${url}${SLUICE_PATH}/api/`],
    ["aws", `${url}${SLUICE_PATH}/aws`],
    ...(dataFolder === null ? [] : [["data", dataFolder] as const]),
  ];
  const width = Math.max(...lines.map(([label]) => label.length)) + 2;
  return lines.map(([label, where]) => label.padEnd(width) + where).join("\n");
}

/**
 * Returns lines for a shell that make AWS's SDKs use the broker. Not every AWS CLI reads them.
 *
 * @param variables the broker's variables. If they require keys, the lines have placeholders for them.
 */
export function awsLines(url: string, variables: Readonly<Record<string, unknown>>): string {
  const asksForKeys = (variables.SLUICE_AWS_ACCESS_KEYS ?? "") !== "";
  const [key, secret] = asksForKeys ? ["KEY", "SECRET"] : ["local", "local"];
  const region = variables.SLUICE_AWS_REGION || "us-east-1";
  return [
    `export AWS_ENDPOINT_URL_SQS=${url}${SLUICE_PATH}/aws`,
    `export AWS_ENDPOINT_URL_SNS=${url}${SLUICE_PATH}/aws`,
    // The AWS CLI and boto3 read only the second one.
    `export AWS_REGION=${region} AWS_DEFAULT_REGION=${region}`,
    `export AWS_ACCESS_KEY_ID=${key} AWS_SECRET_ACCESS_KEY=${secret}`,
  ].join("\n");
}

function standsForAll(host: string): boolean {
  return host === "0.0.0.0" || host === "*" || host === "::";
}

/** Returns a host for URLs: an address that stands for all of this machine's cannot be opened. */
function browsable(host: string): string {
  if (standsForAll(host)) return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

const MADE_UNTIL_END =
  "Other machines reach this address, so who uses the queues has to prove that it is you, on this machine too. What " +
  "follows was made for that, until the end of this process; SLUICE_API_TOKENS and SLUICE_AWS_ACCESS_KEYS, in the " +
  "environment or .dev.vars, take its place.";

/** The part of `os.networkInterfaces()` with the addresses by which other machines reach this one. */
type Networks = NodeJS.Dict<
  readonly { readonly family: string; readonly internal: boolean; readonly address: string }[]
>;

/**
 * Returns lines with links to the dashboard that contain the token. A browser does not send the part after "#".
 *
 * @param url URL of the primary Worker, without a slash at its end.
 * @param input.host address that the server listens on. One for all addresses adds a line for other machines.
 * @param input.networks networks of this machine. Default: `os.networkInterfaces()`.
 */
export function dashboardLinks(
  url: string,
  token: string,
  { host, networks = networkInterfaces() }: { readonly host: string; readonly networks?: Networks },
): string {
  const link = (base: string) => `${base}${SLUICE_PATH}/#token=${encodeURIComponent(token)}`;
  const here = `Dashboard: ${link(url)}`;
  const own = Object.values(networks)
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal);
  if (!standsForAll(host) || own === undefined) return here;
  const { protocol, port } = new URL(url);
  return `${here}\nFrom other machines: ${link(`${protocol}//${own.address}:${port}`)}`;
}

const PROXIED =
  "A proxy leads others here, by SLUICE_PUBLIC_URL or SLUICE_TRUST_PROXY, so nobody is let in for being on this machine.";

/** Words for a kind of credential, and the setting that lists the accepted ones. */
interface Proof {
  readonly brings: string;
  readonly a: string;
  readonly setting: string;
}

const KEY: Proof = { brings: "signs with", a: "a key", setting: "SLUICE_AWS_ACCESS_KEYS" };
const TOKEN: Proof = { brings: "brings", a: "a token", setting: "SLUICE_API_TOKENS" };

/** Returns the words for all clients that can reach a broker. */
function everybodyWho(reaches: "machine" | "proxy" | "address"): string {
  switch (reaches) {
    case "machine":
      return "every program of this machine";
    case "proxy":
      return "everybody who reaches the proxy";
    case "address":
      return "everybody who reaches this address";
  }
}

/** Describes who may use a broker, what to set to let others in, and where it sends messages itself. */
export function accessLines(
  { http, aws, vars, made = { token: null, key: null } }: Omit<Admission, "headers">,
  host: string,
): string {
  const isProxied = isLoopback(host) && isBehindProxy(vars);
  const everybody = everybodyWho(isProxied ? "proxy" : isLoopback(host) ? "machine" : "address");
  const who = (permitted: Permitted, { brings, a, setting }: Proof) => {
    if (permitted === "everybody") return everybody;
    if (permitted === "known") return `who ${brings} one of ${setting}, or one that the broker keeps`;
    return (
      `nobody but who ${brings} ${a} that the broker keeps (sluice tokens); set ${setting}, or SLUICE_ENV=local ` +
      `to let in ${everybody}`
    );
  };
  const lines: readonly (readonly [what: string, who: string])[] = [
    [
      "AWS endpoint",
      made.key === null
        ? who(aws, KEY)
        : `who signs with the key ${made.key.id} and the secret ${made.key.secret}`,
    ],
    [
      "REST and admin API, metrics",
      made.token === null ? who(http, TOKEN) : `who brings the token ${made.token}`,
    ],
    ["health, page without data", everybody],
  ];
  const width = Math.max(...lines.map(([what]) => what.length)) + 2;
  const calls = callsPrivateHosts(vars)
    ? "any address, private ones too"
    : "public addresses, and the hosts of SLUICE_PUSH_HOSTS";
  const isMade = made.token !== null || made.key !== null;
  return [
    ...(isMade ? [MADE_UNTIL_END] : []),
    ...(isProxied && aws !== "everybody" && http !== "everybody" ? [PROXIED] : []),
    "Open to",
    ...lines.map(([what, to]) => `  ${what.padEnd(width)}${to}`),
    `HTTP endpoints are called at ${calls}`,
  ].join("\n");
}
