/** Memory of one Worker's isolate, in bytes. */
export interface HeapUsage {
  /** Objects of JavaScript. */
  readonly usedSize: number;
  /** Memory behind typed arrays. */
  readonly backingStorageSize: number;
}

/** A V8 CPU profile, as `.cpuprofile` files hold it. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
      readonly columnNumber: number;
    };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
  readonly startTime: number;
  readonly endTime: number;
}

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** A session with the inspector of one Worker's isolate. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#receive(JSON.parse(String(data)) as Reply));
    socket.addEventListener("close", () => this.#fail());
  }

  static async connect(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("error", () => reject(new Error(`there is no inspector at ${url}`)));
    });
    return new Inspector(socket);
  }

  /** What lives: a heap snapshot, which is thrown away, collects the garbage first. */
  async liveHeap(): Promise<HeapUsage> {
    await this.#call("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
    return (await this.#call("Runtime.getHeapUsage")) as HeapUsage;
  }

  async startCpuProfile(samplingMicros: number): Promise<void> {
    await this.#call("Profiler.enable");
    await this.#call("Profiler.setSamplingInterval", { interval: samplingMicros });
    await this.#call("Profiler.start");
  }

  async stopCpuProfile(): Promise<CpuProfile> {
    const { profile } = (await this.#call("Profiler.stop")) as { profile: CpuProfile };
    return profile;
  }

  close(): void {
    this.#socket.close();
  }

  #call(method: string, params: object = {}): Promise<unknown> {
    const id = this.#nextId++;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #receive({ id, result, error }: Reply): void {
    const call = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || call === undefined) return;
    this.#waiting.delete(id);
    if (error === undefined) call.resolve(result);
    else call.reject(new Error(error.message));
  }

  #fail(): void {
    for (const { reject } of this.#waiting.values()) reject(new Error("the inspector closed the connection"));
    this.#waiting.clear();
  }
}
