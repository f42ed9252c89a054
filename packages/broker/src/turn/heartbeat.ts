/**
 * While a delivery or a transfer runs the alarm is at most this far away, in ms: after a crash nothing else would wake
 * the object, or not before the lease expires, which for a `queue()` handler is 15 minutes.
 */
export const HEARTBEAT_MS = 5_000;
/**
 * The same where each alarm is billed. An object that does nothing is put to sleep after ten seconds, and with it what
 * waits in its memory for the alarm.
 */
export const HEARTBEAT_DEPLOYED_MS = 8_000;
