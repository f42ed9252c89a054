/**
 * The body with which `sluice serve` answers, with 503, while its Workers are started again. A contract between
 * versions: other commands tell by it that the broker is there.
 */
export const RESTARTING = "The Workers are being started again. Try again in a moment.\n";
