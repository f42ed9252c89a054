import {
  ALERT_DELIVERIES_DEFAULT,
  ALERT_DELIVERIES_MAX,
  ALERT_DELIVERIES_MIN,
  ALERT_FORMATS,
  ALERT_SECONDS_MAX,
  ALERT_SECONDS_MIN,
  ALERT_SHARE_DEFAULT,
  ALERT_STALLED_SECONDS_DEFAULT,
  ALERTS_URL,
  type AlertSettings,
} from "@sluice/protocol";
import * as z from "zod";
import { type Place, placeOf, type Report } from "../file/report.ts";
import { checkShape } from "./check-shape.ts";
import { durationSeconds } from "./duration.ts";

const TIME = 'a time from "1m" to "14d", as in "90s" or "1h", or "off"';
const SHARE = "a share from 0 to less than 1, or false";
const time = z.union([z.string(), z.literal(false)], TIME).optional();

const schema = z.strictObject(
  {
    url: z.string("a string").optional(),
    format: z.enum(ALERT_FORMATS, '"webhook" or "slack"').optional(),
    dead_letters: z.boolean("true or false").optional(),
    oldest_message: time,
    failures: z.union([z.number(), z.literal(false)], SHARE).optional(),
    failures_of: z.number("a number").optional(),
    stalled: time,
  },
  "an object",
);

/**
 * Reads `[sluice.alerts]`: when a webhook gets alerts. Every fault is reported on the line of its key. The broker
 * decides whether it may call the host, since that depends on where it runs.
 */
export function readAlertsTable(value: unknown, place: Place, report: Report): AlertSettings | null {
  const raw = checkShape(schema, value, place, report);
  if (raw === undefined) return null;
  const {
    url,
    format = "webhook",
    dead_letters: deadLetters = true,
    failures: share = ALERT_SHARE_DEFAULT,
  } = raw;
  if (url !== undefined) checkUrl(url, placeOf(place, "url"), report);
  if (share !== false && !(share >= 0 && share < 1))
    report.fieldError(placeOf(place, "failures"), `should be ${SHARE} but got ${share}.`);
  const { failures_of: deliveries = ALERT_DELIVERIES_DEFAULT } = raw;
  if (
    !Number.isInteger(deliveries) ||
    deliveries < ALERT_DELIVERIES_MIN ||
    deliveries > ALERT_DELIVERIES_MAX
  ) {
    const range = `a whole number from ${ALERT_DELIVERIES_MIN} to ${ALERT_DELIVERIES_MAX}`;
    report.fieldError(placeOf(place, "failures_of"), `should be ${range} but got ${deliveries}.`);
  }
  if (share === false && raw.failures_of !== undefined)
    report.fieldError(placeOf(place, "failures_of"), "has no effect with failures = false.");
  const oldest = readTime(raw.oldest_message, undefined, placeOf(place, "oldest_message"), report);
  const stalled = readTime(raw.stalled, ALERT_STALLED_SECONDS_DEFAULT, placeOf(place, "stalled"), report);
  return {
    ...(url === undefined ? {} : { url }),
    format,
    deadLetters,
    ...(oldest === undefined ? {} : { oldestMessageSeconds: oldest }),
    ...(share === false ? {} : { failures: { share, deliveries } }),
    ...(stalled === undefined ? {} : { stalledSeconds: stalled }),
  };
}

function checkUrl(text: string, place: Place, report: Report): void {
  const url = URL.parse(text);
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (isHttp && url?.username === "" && url.password === "") return;
  report.fieldError(
    place,
    `should be an http: or https: URL without user and password. One that is a secret is given as ${ALERTS_URL}.`,
  );
}

/** Reads a time, in seconds; `undefined` where it is off. */
function readTime(
  value: z.infer<typeof time>,
  byDefault: number | undefined,
  place: Place,
  report: Report,
): number | undefined {
  if (value === undefined) return byDefault;
  if (value === false || value === "off") return undefined;
  const seconds = durationSeconds(value);
  if (seconds >= ALERT_SECONDS_MIN && seconds <= ALERT_SECONDS_MAX) return seconds;
  report.fieldError(place, `should be ${TIME} but got ${JSON.stringify(value)}.`);
  return undefined;
}

const MOMENT = 'a time with its zone, as in "2026-12-24T18:00:00Z"';

const ISO_MOMENT = z.iso.datetime({ offset: true });

/** Schema of the key `alerts_silent_until` of `[sluice.queues.NAME]`: a text, or a TOML date-time. */
export const SILENCE_KEY = z.union([z.string(), z.date()], MOMENT).optional();

/** Reads until when the alerts of a queue are silenced, in ms since 1970. */
export function readSilenceKey(
  value: z.infer<typeof SILENCE_KEY>,
  queuePlace: Place,
  report: Report,
): number | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === "string" ? value : value.toISOString();
  // `Date.parse` alone takes 30 February.
  if (ISO_MOMENT.safeParse(text).success) return Date.parse(text);
  const got = JSON.stringify(text);
  report.fieldError(placeOf(queuePlace, "alerts_silent_until"), `should be ${MOMENT} but got ${got}.`);
  return undefined;
}
