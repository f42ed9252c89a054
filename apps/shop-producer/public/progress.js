/**
 * Describes the state of an order in words. Pure: the time is an argument.
 *
 * @typedef {{ state: "charged", id: string, attempts: number, cents: number }
 *   | { state: "retrying", id: string, attempts: number, reason: string, nextAttemptAt: number | null }
 *   | { state: "dead", id: string, attempts: number, reason: string | null }} OrderReport
 * @typedef {{ id: string, charged: number, retrying: number, dead: number }} RunReport
 * @typedef {"queued" | "charged" | "retrying" | "dead"} State
 * @typedef {"failed" | "paid" | "due"} Mark one attempt
 * @typedef {{ state: State, label: string, detail: string, marks: Mark[] }} OrderWords
 */
import { formatMoney } from "./format.js";

/** Most attempts drawn as marks: a queue may allow a hundred retries. */
const MARKS_MAX = 8;

/**
 * @param {{ placedAt: number, delaySeconds: number }} placed
 * @param {OrderReport | undefined} report the last one; none while the order is queued
 * @param {number} now milliseconds since the epoch
 * @returns {OrderWords}
 */
export function describeOrder(placed, report, now) {
  if (report === undefined) {
    const wait = secondsUntil(placed.placedAt + placed.delaySeconds * 1000, now);
    const detail = wait > 0 ? `Held back for another ${duration(wait)}` : "Waiting for its first attempt";
    return { state: "queued", label: wait > 0 ? "Delayed" : "Queued", detail, marks: ["due"] };
  }
  const { attempts } = report;
  switch (report.state) {
    case "charged":
      return {
        state: "charged",
        label: "Charged",
        detail: `${formatMoney(report.cents)} charged at ${attempts === 1 ? "the first attempt" : `attempt ${attempts}`}`,
        marks: marks(attempts - 1, "paid"),
      };
    case "retrying":
      return {
        state: "retrying",
        label: "Retrying",
        detail: `${report.reason}. ${nextAttempt(report.nextAttemptAt, now)}`,
        marks: marks(attempts, "due"),
      };
    case "dead":
      return {
        state: "dead",
        label: "Dead letter",
        detail: `${report.reason ?? "It failed"}. Moved to the dead-letter queue${attempts > 0 ? ` after ${attempts} attempts` : ""}`,
        marks: marks(attempts),
      };
  }
}

/**
 * Counts a bulk run's orders by state. Queued orders have no report: they are the rest.
 *
 * @param {number} count
 * @param {RunReport | undefined} report
 * @returns {Record<State, number>}
 */
export function shareRun(count, report) {
  const { charged, retrying, dead } = report ?? { charged: 0, retrying: 0, dead: 0 };
  return { charged, retrying, dead, queued: Math.max(0, count - charged - retrying - dead) };
}

/**
 * Whether nothing more will happen to the order.
 *
 * @param {OrderReport | undefined} report
 */
export function isOrderSettled(report) {
  return report?.state === "charged" || report?.state === "dead";
}

/**
 * Whether nothing more will happen to any order of the bulk run.
 *
 * @param {number} count
 * @param {RunReport | undefined} report
 */
export function isRunSettled(count, report) {
  const { queued, retrying } = shareRun(count, report);
  return queued === 0 && retrying === 0;
}

/**
 * @param {number} failed
 * @param {Mark} [last]
 * @returns {Mark[]}
 */
function marks(failed, last) {
  /** @type {Mark[]} */
  const all = Array.from({ length: Math.min(failed, MARKS_MAX - 1) }, () => "failed");
  return last === undefined ? all : [...all, last];
}

/**
 * @param {number | null} at
 * @param {number} now
 */
function nextAttempt(at, now) {
  const wait = at === null ? 0 : secondsUntil(at, now);
  return wait > 0 ? `Next attempt in ${duration(wait)}` : "Next attempt soon";
}

/**
 * @param {number} at
 * @param {number} now
 */
function secondsUntil(at, now) {
  return Math.max(0, Math.ceil((at - now) / 1000));
}

/** @param {number} seconds */
function duration(seconds) {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
}
