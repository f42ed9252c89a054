import type {
  AuditRecord,
  AuditRpc,
  NewToken,
  R2Bucket,
  R2Rpc,
  R2Write,
  TokenRecord,
  TokenReply,
  TokenSecret,
  TokensRpc,
} from "@sluice/protocol";
import { REAL_TIME } from "@sluice/protocol";
import type { BrokerClock, ComingMoment } from "../src/index.ts";

/** When every record of these tests was made, in ms. */
export const CREATED_MS = 1_700_000_000_000;

/** Rules of R2 buckets in memory; nothing is refused, and no message is sent. */
export function memoryR2(): R2Rpc & { readonly taken: R2Write[] } {
  const taken: R2Write[] = [];
  const buckets = new Map<string, R2Bucket>();
  return {
    taken,
    listR2Buckets: async () => [...buckets.values()],
    addR2Rules: async (bucket, queueId, rules) => {
      const before = buckets.get(bucket)?.rules ?? [];
      const added = rules.map((rule, i) => ({
        ...rule,
        queueId,
        ruleId: `${before.length + i}`.padStart(32, "0"),
        createdAtMs: CREATED_MS,
      }));
      buckets.set(bucket, { bucket, takenTo: 0, rules: [...before, ...added] });
      return { ok: true };
    },
    deleteR2Rules: async (bucket) => {
      buckets.delete(bucket);
      return { ok: true };
    },
    takeR2Writes: async (_account, _bucket, writes) => {
      taken.push(...writes);
      return writes.at(-1)?.id ?? 0;
    },
  };
}

/** An audit log in memory. */
export function memoryAudit(): AuditRpc & { readonly records: AuditRecord[] } {
  const records: AuditRecord[] = [];
  return {
    records,
    noteAudit: async (entry) => {
      records.unshift({ ...entry, id: records.length + 1, atMs: CREATED_MS });
    },
    readAudit: async (max, before) => records.filter(({ id }) => id < (before ?? Infinity)).slice(0, max),
  };
}

/** Tokens that are kept in memory. */
export function memoryTokens(now: () => number = () => Date.now()): TokensRpc & { calls: number } {
  const kept = new Map<string, TokenRecord>();
  const put = (token: TokenRecord) => {
    kept.set(token.name, token);
    return { ok: true as const, token };
  };
  const tokens = {
    calls: 0,
    listTokens: async () => {
      tokens.calls += 1;
      return [...kept.values()];
    },
    createToken: async (token: NewToken): Promise<TokenReply> => {
      if (kept.has(token.name)) return { ok: false, refusal: "nameTaken" };
      return put({ ...token, previous: null, createdAtMs: now(), changedAtMs: now() });
    },
    rotateToken: async (name: string, secret: TokenSecret, graceMs: number): Promise<TokenReply> => {
      const token = kept.get(name);
      if (token === undefined) return { ok: false, refusal: "notFound" };
      const previous = { secret: token.secret, untilMs: now() + graceMs };
      return put({ ...token, secret, previous, changedAtMs: now() });
    },
    deleteToken: async (name: string): Promise<TokenReply> => {
      const token = kept.get(name);
      kept.delete(name);
      return token === undefined ? { ok: false, refusal: "notFound" } : { ok: true, token };
    },
  };
  return tokens;
}

/**
 * A clock that keeps its setting in memory.
 *
 * @param advances where each advance is noted.
 * @param coming what comes next, of all queues.
 */
export function memoryClock(advances: number[] = [], coming: readonly ComingMoment[] = []): BrokerClock {
  let setting = REAL_TIME;
  return {
    read: async () => setting,
    advance: async (ms) => {
      advances.push(ms);
      const { offsetMs, frozenAtMs } = setting;
      setting = { offsetMs: offsetMs + ms, frozenAtMs: frozenAtMs === null ? null : frozenAtMs + ms };
      return setting;
    },
    freeze: async (isFrozen) => {
      setting = { ...setting, frozenAtMs: isFrozen ? Date.now() + setting.offsetMs : null };
      return setting;
    },
    next: async (queue) => {
      const asked = coming.filter((moment) => queue === null || moment.queue === queue);
      return {
        first: asked.find(({ atMs }) => atMs !== null) ?? null,
        busy: asked.filter(({ isBusy }) => isBusy).map((moment) => moment.queue),
        expiring:
          coming
            .map(({ queue, expiresAtMs = Number.POSITIVE_INFINITY }) => ({ queue, atMs: expiresAtMs }))
            .find(({ atMs }) => atMs < Number.POSITIVE_INFINITY) ?? null,
      };
    },
  };
}
