import { BACKOFF_FUNCTIONS } from "./four-phase.ts";
import { JITTERS, type Jitter } from "./jitter.ts";
import { DELAY_SECONDS_MAX, type RetryPolicy } from "./policy.ts";
import { SNS_DEFAULTS, SNS_PRESETS, type SnsPreset } from "./presets.ts";
import type { RetryMembers } from "./sns/document.ts";
import { fillRetryPolicy, retryFault, TOTAL_SECONDS_MAX } from "./sns/retry-members.ts";

/** Fault of a key in a retry table. */
export interface RetryIssue {
  /** Keys from the table down to the one that is to blame; empty for the table itself. */
  readonly path: readonly string[];
  readonly message: string;
}

export type RetryTableResult =
  | { readonly kind: "policy"; readonly policy: RetryPolicy }
  | { readonly kind: "invalid"; readonly issues: readonly RetryIssue[] };

/** The least and the most that a number may be. */
interface Range {
  readonly min: number;
  readonly max: number;
  readonly decimals: boolean;
}

const SECONDS: Range = { min: 0, max: DELAY_SECONDS_MAX, decimals: false };
const SECONDS_POSITIVE: Range = { min: 1, max: DELAY_SECONDS_MAX, decimals: false };
const BASE: Range = { min: 1, max: DELAY_SECONDS_MAX, decimals: true };

const SNS_MEMBERS = Object.keys(SNS_DEFAULTS) as readonly (keyof RetryMembers)[];

/** The keys of each kind of policy beside `policy` and `jitter`. */
const KEYS = { fixed: ["delay"], exponential: ["base", "max"], sns: [...SNS_MEMBERS, "unlimited"] } as const;

/**
 * Reads a retry policy out of a configuration table: `policy` is `"fixed"`, `"exponential"`, `"sns"` or the name of a
 * preset, the other keys depend on it. Reports every issue, unknown keys included.
 */
export function parseRetryTable(table: unknown): RetryTableResult {
  if (typeof table !== "object" || table === null || Array.isArray(table)) {
    return { kind: "invalid", issues: [{ path: [], message: `should be a table but is ${shown(table)}` }] };
  }
  const reader = new TableReader(table as Readonly<Record<string, unknown>>);
  const policy = readPolicy(reader);
  return policy !== null && reader.issues.length === 0
    ? { kind: "policy", policy }
    : { kind: "invalid", issues: reader.issues };
}

function readPolicy(reader: TableReader): RetryPolicy | null {
  const kinds = [...Object.keys(KEYS), ...Object.keys(SNS_PRESETS)];
  const name = reader.oneOf("policy", kinds);
  if (name === undefined) {
    if (reader.table.policy === undefined) reader.issue("policy", `is required: ${listed(kinds)}`);
    return null;
  }
  switch (name) {
    case "fixed": {
      reader.refuseOthers(KEYS.fixed);
      const delaySeconds = reader.required("delay", SECONDS);
      return { kind: "fixed", delaySeconds, jitter: reader.jitter("none") };
    }
    case "exponential": {
      reader.refuseOthers(KEYS.exponential);
      const base = reader.required("base", BASE);
      const maxSeconds = reader.number("max", SECONDS_POSITIVE) ?? DELAY_SECONDS_MAX;
      return { kind: "exponential", base, maxSeconds, jitter: reader.jitter("none") };
    }
    case "sns":
      reader.refuseOthers(KEYS.sns);
      return readSns(reader);
    default:
      reader.refuseOthers([]);
      return { kind: "sns", ...SNS_PRESETS[name as SnsPreset], jitter: reader.jitter("equal") };
  }
}

/** SNS's own members and limits, in its own words. */
function readSns(reader: TableReader): RetryPolicy | null {
  const unlimited = reader.boolean("unlimited") ?? false;
  const jitter = reader.jitter("equal");
  const members: Record<string, unknown> = {};
  for (const member of SNS_MEMBERS) {
    const value =
      member === "backoffFunction"
        ? reader.oneOf(member, BACKOFF_FUNCTIONS)
        : reader.number(member, { min: -Infinity, max: Infinity, decimals: false });
    if (value !== undefined) members[member] = value;
  }
  if (reader.issues.length > 0) return null;
  const checked = members as RetryMembers; // Each member was read by its type.
  const fault = retryFault(checked, unlimited ? { totalSecondsMax: Infinity } : {});
  if (fault === null) return { kind: "sns", ...fillRetryPolicy(checked), jitter };
  if (fault.member === null) {
    reader.issue(
      null,
      `must have delays of at most ${TOTAL_SECONDS_MAX} seconds in all, or unlimited = true`,
    );
  } else {
    reader.issue(fault.member, fault.text.slice(`.${fault.member} `.length));
  }
  return null;
}

/** Takes typed values out of a table and collects what is wrong with them. */
class TableReader {
  readonly table: Readonly<Record<string, unknown>>;
  readonly issues: RetryIssue[] = [];

  constructor(table: Readonly<Record<string, unknown>>) {
    this.table = table;
  }

  issue(key: string | null, message: string): void {
    this.issues.push({ path: key === null ? [] : [key], message });
  }

  refuseOthers(keys: readonly string[]): void {
    for (const key of Object.keys(this.table)) {
      if (key !== "policy" && key !== "jitter" && !keys.includes(key)) {
        this.issue(key, `is no key of the policy ${shown(this.table.policy)}`);
      }
    }
  }

  jitter(byDefault: Jitter): Jitter {
    return this.oneOf("jitter", JITTERS) ?? byDefault;
  }

  boolean(key: string): boolean | undefined {
    const value = this.table[key];
    if (value === undefined || typeof value === "boolean") return value;
    this.issue(key, `should be true or false but is ${shown(value)}`);
    return undefined;
  }

  oneOf<T extends string>(key: string, choices: readonly T[]): T | undefined {
    const value = this.table[key];
    const choice = choices.find((candidate) => candidate === value);
    if (value !== undefined && choice === undefined) {
      this.issue(key, `should be ${listed(choices)} but is ${shown(value)}`);
    }
    return choice;
  }

  /** Reads a number that has to be there. If it is not, an issue is reported, and the returned value is never used. */
  required(key: string, range: Range): number {
    if (this.table[key] === undefined) {
      this.issue(key, `is required: ${described(range)}`);
    }
    return this.number(key, range) ?? range.min;
  }

  number(key: string, range: Range): number | undefined {
    const value = this.table[key];
    if (value === undefined) return undefined;
    const isNumber = typeof value === "number" && (range.decimals || Number.isInteger(value));
    if (isNumber && value >= range.min && value <= range.max) return value;
    this.issue(key, `should be ${described(range)} but is ${shown(value)}`);
    return undefined;
  }
}

function described({ min, max, decimals }: Range): string {
  const kind = decimals ? "a number" : "a whole number";
  return min === -Infinity ? kind : `${kind} from ${min} to ${max}`;
}

function listed(choices: readonly string[]): string {
  return `one of ${choices.map((choice) => `"${choice}"`).join(", ")}`;
}

/** Shows a value in a message. JSON has no word for `nan` and `inf`, which TOML allows. */
function shown(value: unknown): string {
  return typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value));
}
