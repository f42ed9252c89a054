/** Server that listens for clients in front of the broker. */
export interface Ingress {
  readonly port: number;
  /**
   * Stops listening. Resolves when all requests that had begun are answered, but after five seconds at the latest, or
   * once the signal is aborted. The proxy before workerd takes the first bytes of an answer for all of it.
   */
  stop(signal: AbortSignal): Promise<void>;
  /** Ends every connection. */
  destroy(): void;
}
