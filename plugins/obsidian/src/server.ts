// The local server of a vault: `mathamr serve VAULT` as a child process, and `mathamr index VAULT --watch` beside it.

import { type ChildProcess, spawn } from "child_process";

const PATIENCE = 10 * 60 * 1000;

export type State = "stopped" | "starting" | "running" | "failed";

/** Starts and stops the processes; `changed()` is called whenever its state is another. */
export class Server {
  state: State = "stopped";
  address = "";
  message = "";
  private processes: ChildProcess[] = [];
  private stopping = false;

  constructor(private readonly changed: () => void) {}

  /** Indexes the vault and serves it; the promise ends when the server answers, has failed, or was stopped. */
  start(command: string, vault: string, port: number, watches: boolean): Promise<void> {
    if (this.state === "starting" || this.state === "running") return Promise.resolve();
    const [program = "mathamr", ...first] = words(command);
    this.stopping = false;
    this.turn("starting", "", "Indexing the vault…");
    return new Promise((resolve) => {
      const server = this.run(program, [...first, "serve", vault, "--port", String(port), "--processes", "1", "-q"]);
      let said = "";
      let complaints = "";
      const late = setTimeout(() => this.fail("The server did not start within ten minutes."), PATIENCE);
      server.stdout?.on("data", (data: unknown) => {
        said += String(data);
        const address = /https?:\/\/\S+/.exec(said)?.[0];
        if (!address || this.state !== "starting") return;
        this.turn("running", address, "");
        clearTimeout(late);
        if (watches) this.run(program, [...first, "index", vault, "--watch", "-q"]);
        resolve();
      });
      server.stderr?.on("data", (data: unknown) => {
        complaints = (complaints + String(data)).slice(-2000);
      });
      server.on("error", () => {
        clearTimeout(late);
        this.fail(`“${program}” cannot be started. Install mathamr, or give its full path in the settings.`);
        resolve();
      });
      server.on("exit", () => {
        clearTimeout(late);
        if (!this.stopping && this.state !== "failed") this.fail(lastLine(complaints) || "The server has ended.");
        resolve();
      });
    });
  }

  /** Ends the processes that it has started. */
  stop(): void {
    this.stopping = true;
    for (const each of this.processes) each.kill("SIGTERM");
    this.processes = [];
    this.turn("stopped", "", "");
  }

  private run(program: string, given: string[]): ChildProcess {
    const started = spawn(program, given, { stdio: ["ignore", "pipe", "pipe"] });
    this.processes.push(started);
    started.on("exit", () => {
      this.processes = this.processes.filter((each) => each !== started);
    });
    started.on("error", () => undefined);
    return started;
  }

  private fail(message: string): void {
    this.stop();
    this.turn("failed", "", message);
  }

  private turn(state: State, address: string, message: string): void {
    Object.assign(this, { state, address, message });
    this.changed();
  }
}

/** The words of a command; one with spaces in it stands in quotation marks. */
export function words(command: string): string[] {
  return (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^"(.*)"$/, "$1"));
}

/** The last line that says something, without the program's name before it. */
function lastLine(text: string): string {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim());
  return (lines.at(-1) ?? "").replace(/^mathamr: /, "").trim();
}
