import {
  type AlertSettings,
  canonicalJson,
  R2_RULES_MAX,
  type R2NotificationSettings,
  type SnsSettings,
} from "@sluice/protocol";
import { type ConfigDiagnostic, errorAt, formatPlace } from "../file/diagnostics.ts";
import { isRepeated, overlapText } from "../tables/r2-notifications.ts";
import type { QueueSettings } from "../tables/sluice-table.ts";
import type { WorkerQueueConfig } from "../tables/worker-config.ts";

/** Settings of a queue, each with its key in a `[sluice.queues]` table. */
export const QUEUE_KEYS = [
  ["deliveryDelaySeconds", "delivery_delay"],
  ["messageRetentionSeconds", "message_retention_period"],
  ["retryPolicy", "retry"],
  ["maxReceivesPerSecond", "max_receives_per_second"],
  ["push", "push"],
  ["historySeconds", "history"],
  ["logs", "logs"],
  ["finishedMessages", "finished"],
  ["alertsSilentUntilMs", "alerts_silent_until"],
  ["shards", "shards"],
  ["fifo", "fifo"],
  ["contentBasedDeduplication", "content_based_deduplication"],
  ["deduplicationScope", "deduplication_scope"],
  ["visibilityTimeoutSeconds", "visibility_timeout"],
  ["receiveWaitTimeSeconds", "receive_wait_time"],
  ["redrive", "redrive"],
] as const satisfies readonly (readonly [keyof QueueSettings, string])[];

/**
 * Merges the `[sluice.queues]` tables of all files. Files may share a queue, with other keys or with the same values.
 * Keys that two files set differently are reported with both places.
 */
export function mergeQueueSettings(
  workers: readonly WorkerQueueConfig[],
  diagnostics: ConfigDiagnostic[],
): ReadonlyMap<string, QueueSettings> {
  const merged = new Map<string, QueueSettings>();
  const places = new Map<string, string>();
  for (const { file: own, settingsFile: file = own, queueSettings, lines } of workers) {
    for (const [queue, settings] of Object.entries(queueSettings)) {
      const line = lines?.queueSettings[queue];
      const before = merged.get(queue) ?? {};
      for (const [key, spelling] of QUEUE_KEYS) {
        if (settings[key] === undefined) continue;
        const placeId = `${queue}.${key}`;
        const place = formatPlace(file, line);
        if (before[key] === undefined) {
          places.set(placeId, place);
          continue;
        }
        if (canonicalJson(before[key]) !== canonicalJson(settings[key])) {
          const [first, second] = [JSON.stringify(before[key]), JSON.stringify(settings[key])];
          const text =
            `Queue "${queue}" has two values of "${spelling}": ${first} (${places.get(placeId)}) and ` +
            `${second} (${place})`;
          diagnostics.push(errorAt(file, line, text));
        }
      }
      merged.set(queue, { ...settings, ...before });
    }
  }
  return merged;
}

const SNS_KEYS = [
  ["messageLifeSeconds", "message_life"],
  ["clientErrors", "client_errors"],
] as const satisfies readonly (readonly [keyof SnsSettings, string])[];

/**
 * Merges the `[sluice.sns]` tables of all files; `undefined` where there is none. Keys that two files set differently
 * are reported with both places.
 */
export function mergeSnsSettings(
  workers: readonly WorkerQueueConfig[],
  diagnostics: ConfigDiagnostic[],
): SnsSettings | undefined {
  let merged: SnsSettings = {};
  const places = new Map<keyof SnsSettings, string>();
  for (const { file: own, settingsFile: file = own, lines, sns = {} } of workers) {
    const place = formatPlace(file, lines?.sns);
    for (const [key, spelling] of SNS_KEYS) {
      const [first, second] = [merged[key], sns[key]];
      if (second === undefined) continue;
      if (first === undefined) places.set(key, place);
      else if (first !== second) {
        const text = `"sluice.sns.${spelling}" has two values: ${first} (${places.get(key)}) and ${second} (${place})`;
        diagnostics.push(errorAt(file, lines?.sns, text));
      }
    }
    merged = { ...sns, ...merged };
  }
  return Object.keys(merged).length === 0 ? undefined : merged;
}

/**
 * Merges the `[[sluice.r2_notifications]]` of all files. Files may have the same rule. Other rules that overlap are
 * reported, and a bucket with more than `R2_RULES_MAX` rules.
 */
export function mergeR2Notifications(
  workers: readonly WorkerQueueConfig[],
  diagnostics: ConfigDiagnostic[],
): R2NotificationSettings[] {
  const merged: R2NotificationSettings[] = [];
  for (const { file, settingsFile = file, r2Notifications = [] } of workers) {
    for (const rule of r2Notifications) {
      const other = merged.find((each) => isRepeated(each, rule));
      if (other === undefined) {
        merged.push(rule);
        const ofBucket = merged.filter(({ bucket }) => bucket === rule.bucket).length;
        if (ofBucket === R2_RULES_MAX + 1)
          diagnostics.push(errorAt(settingsFile, undefined, tooManyText(rule.bucket)));
      } else if (canonicalJson(other) !== canonicalJson(rule))
        diagnostics.push(errorAt(settingsFile, undefined, overlapText(rule)));
    }
  }
  return merged.sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
}

function tooManyText(bucket: string): string {
  return `R2 bucket "${bucket}" has more than ${R2_RULES_MAX} rules in [[sluice.r2_notifications]], which is the most.`;
}

/** Finds the `[sluice.alerts]` table of all files; `undefined` where there is none. Tables that differ are reported. */
export function mergeAlerts(
  workers: readonly WorkerQueueConfig[],
  diagnostics: ConfigDiagnostic[],
): AlertSettings | undefined {
  const [first, ...others] = workers.filter(({ alerts }) => alerts !== undefined);
  for (const { file, settingsFile = file, alerts } of others) {
    if (canonicalJson(alerts) === canonicalJson(first?.alerts)) continue;
    const text = `There are two [sluice.alerts] tables that differ: one is in ${first?.settingsFile ?? first?.file}`;
    diagnostics.push(errorAt(settingsFile, undefined, text));
  }
  return first?.alerts;
}
