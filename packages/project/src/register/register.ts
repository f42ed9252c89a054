import type { WorkerQueueConfig } from "@sluice/config";
import { canonicalJson } from "@sluice/protocol";
import { CliError } from "../errors.ts";
import type { GeneratedConfig } from "../wrangler/generated-config.ts";

/**
 * Projects that a broker on an account serves. Each version of the broker has its register in its variables, so that a
 * deployment can read the queues of Workers whose files are in other repositories.
 *
 * A contract: later releases read it. A change that an earlier release would misread increases `FORMAT`.
 */
export interface Register {
  readonly format: typeof FORMAT;
  /** Project whose deployment made the register. A version with the same register may be another project's upload. */
  readonly by: string;
  readonly projects: Readonly<Record<string, ProjectEntry>>;
}

/** A project in a register. */
export interface ProjectEntry {
  /** Whether its files name the broker. Other projects may share the broker then. */
  readonly shares: boolean;
  /** Tables of its Workers, by the Worker's name. */
  readonly workers: Readonly<Record<string, QueueTables>>;
  /** Own configuration of the broker, which only one project has. */
  readonly broker?: BrokerEntry;
}

export interface BrokerEntry {
  readonly queues: QueueTables;
  /** Wrangler's reading of the configuration, without keys that name files. */
  readonly config: GeneratedConfig;
}

/** Tables of a configuration that concern queues. */
export type QueueTables = Pick<
  WorkerQueueConfig,
  "producers" | "consumers" | "queueSettings" | "sns" | "r2Notifications" | "alerts"
>;

/** A binding of a version, as in Cloudflare's API. */
export interface TextBinding {
  readonly name: string;
  readonly type: string;
  readonly text?: string;
}

export const FORMAT = 1;

/** Variable of the broker with the number of variables that hold the register: `SLUICE_SERVES_1`, `_2` and so on. */
const VARIABLE = "SLUICE_SERVES";
/** Most characters in a variable: Cloudflare allows 5 KB, and the text is ASCII. */
const PIECE_LENGTH = 4_800;

/** Picks the tables that concern queues from a configuration. */
export function tablesOf(tables: QueueTables): QueueTables {
  const { producers, consumers, queueSettings, sns, r2Notifications, alerts } = tables;
  return {
    producers,
    consumers,
    queueSettings,
    ...(sns === undefined ? {} : { sns }),
    ...(r2Notifications === undefined ? {} : { r2Notifications }),
    ...(alerts === undefined ? {} : { alerts }),
  };
}

/** Makes the broker's variables for a register. Equal registers give equal variables. */
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
 * Reads the register of a version; `null` for a version without one.
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
      ? `The variables ${VARIABLE} of "${broker}" are damaged: another tool than "sluice deploy" has written them. ` +
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

/** Sorts the keys of a value: with another order of keys, an equal value would look changed. */
export function canonical<T>(value: T): T {
  return JSON.parse(canonicalJson(value), withoutPrototype) as T;
}

/** Creates records without a prototype: "constructor" is a valid name of a queue, and of a Worker. */
function withoutPrototype(_key: string, value: unknown): unknown {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? Object.assign(Object.create(null), value) : value;
}

function ascii(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
