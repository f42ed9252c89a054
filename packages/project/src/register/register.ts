import type { WorkerQueueConfig } from "@sluice/config";
import { canonicalJson } from "@sluice/protocol";
import { CliError } from "../errors.ts";
import type { GeneratedConfig } from "../wrangler/generated-config.ts";

/**
 * The projects that a broker on an account serves. Each version of the broker carries it in its variables: so a
 * deployment knows the queues of Workers whose sources it does not have.
 *
 * A contract: later releases read what this one has written. A change that an earlier one would misread counts `FORMAT`
 * up.
 */
export interface Register {
  readonly format: typeof FORMAT;
  /** The project whose deployment uploaded it. */
  readonly by: string;
  readonly projects: Readonly<Record<string, ProjectEntry>>;
}

/** One project of a register. */
export interface ProjectEntry {
  /** Whether it names the broker, so that other projects that do may join it. */
  readonly shares: boolean;
  /** The tables of each of its Workers, by the Worker's name. */
  readonly workers: Readonly<Record<string, QueueTables>>;
  /** The broker's own configuration, which one project alone has. */
  readonly broker?: BrokerEntry;
}

export interface BrokerEntry {
  readonly queues: QueueTables;
  /** As Wrangler has read it, without what names files. */
  readonly config: GeneratedConfig;
}

/** The tables of a configuration that are about queues. */
export type QueueTables = Pick<WorkerQueueConfig, "producers" | "consumers" | "queueSettings" | "sns">;

/** A binding of a version, as Cloudflare's API tells it. */
export interface TextBinding {
  readonly name: string;
  readonly type: string;
  readonly text?: string;
}

export const FORMAT = 1;

/** The broker's variable that says how many others hold the register: each ends in its number, from 1. */
const VARIABLE = "SLUICE_SERVES";
/** Cloudflare takes 5 KB in a variable. The text is ASCII, so a character is a byte. */
const PIECE_LENGTH = 4_800;

export function tablesOf({ producers, consumers, queueSettings, sns }: QueueTables): QueueTables {
  return { producers, consumers, queueSettings, ...(sns === undefined ? {} : { sns }) };
}

/** The broker's variables that hold a register: the same for the same one. */
export function registerVariables(register: Register): Record<string, string> {
  const text = ascii(canonicalJson(register));
  const count = Math.ceil(text.length / PIECE_LENGTH);
  const pieces = Array.from({ length: count }, (_, i): [string, string] => [
    `${VARIABLE}_${i + 1}`,
    text.slice(i * PIECE_LENGTH, (i + 1) * PIECE_LENGTH),
  ]);
  return { [VARIABLE]: `${count}`, ...Object.fromEntries(pieces) };
}

/**
 * The register of a version; `null` for one without.
 *
 * @throws CliError for one that this release cannot read.
 */
export function readRegister(broker: string, bindings: readonly TextBinding[]): Register | null {
  const texts = new Map(bindings.map(({ name, text }) => [name, text]));
  const count = texts.get(VARIABLE);
  if (count === undefined) return null;
  const pieces = Array.from({ length: Number(count) }, (_, i) => texts.get(`${VARIABLE}_${i + 1}`) ?? "");
  const register = parsed(pieces.join(""));
  if (register?.format === FORMAT) return register;
  throw new CliError(
    register === null
      ? `The variables ${VARIABLE} of "${broker}" are damaged: something else than "sluice deploy" has written them. ` +
          `"sluice rollback" leads back to a version that has them.`
      : `"${broker}" was deployed by a release of Sluice that this one cannot follow. Update it.`,
  );
}

function parsed(text: string): Register | null {
  try {
    return JSON.parse(text, withoutPrototype) as Register;
  } catch {
    return null;
  }
}

/** A value with its keys in one order, whether files or a register have said it: else the same would look changed. */
export function canonical<T>(value: T): T {
  return JSON.parse(canonicalJson(value), withoutPrototype) as T;
}

/** "constructor" is a valid name of a queue, and of a Worker. */
function withoutPrototype(_key: string, value: unknown): unknown {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? Object.assign(Object.create(null), value) : value;
}

function ascii(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
