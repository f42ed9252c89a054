/** A connection that was refused or lost, as workerd's own library notes it. Whoever made it says so in words. */
const DISCONNECTED = /^workerd\/\S+: info: exception = .*disconnected: /;
/** The addresses that follow. */
const STACK = /^stack: /;

/**
 * Tells which lines of workerd's standard error say nothing to anybody: with an endpoint that is away, a stack of addresses
 * every 30 s. It is asked line by line. Uncaught exceptions of Workers come in the same way, and are no noise.
 */
export function noiseFilter(): (line: string) => boolean {
  let wasNoise = false;
  return (line) => {
    wasNoise = DISCONNECTED.test(line) || (wasNoise && STACK.test(line));
    return wasNoise;
  };
}
