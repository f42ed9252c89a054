/** Server that listens for clients in front of the broker. */
export interface Ingress {
  readonly port: number;
  /**
   * Listens no more and resolves when what was begun is answered, after five seconds, or when the signal is aborted.
   */
  stop(signal: AbortSignal): Promise<void>;
  /** Ends every connection. */
  destroy(): void;
}
