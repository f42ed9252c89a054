/**
 * Everything of ours lives under this path, so that it can share a port with a user's Worker. Where there is none,
 * AWS's clients are answered at the root too.
 */
export const PREFIX = "/__sluice";
