/**
 * Path above all of the broker's own paths, so that it can share a port with a user's Worker. Where there is no Worker,
 * AWS's clients are answered at the root too.
 */
export const PREFIX = "/__sluice";
