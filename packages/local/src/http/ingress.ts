/** Server that listens for clients in front of the broker. */
export interface Ingress {
  readonly port: number;
  /**
   * Stops listening. Resolves when all requests that had begun are answered, but after five seconds at the latest, or
   * once the signal is aborted.
   */
  stop(signal: AbortSignal): Promise<void>;
  /** Ends every connection. */
  destroy(): void;
}
