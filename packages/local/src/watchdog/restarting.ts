/**
 * Body of `sluice serve`'s 503 while its Workers are restarted. A contract between versions: by it other commands
 * recognize that a broker runs there.
 */
export const RESTARTING = "The Workers are being started again. Try again in a moment.\n";
