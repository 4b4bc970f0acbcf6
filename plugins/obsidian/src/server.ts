// The local server of a vault: `mathamr serve VAULT` as a child process, and `mathamr index VAULT --watch` beside it.

import { type ChildProcess, spawn } from "child_process";

const PATIENCE = 10 * 60 * 1000;
/** Milliseconds after which a process that was told to end is killed. */
const GRACE = 5000;
/** Characters that are kept of what a process writes. */
const LONGEST = 2000;

export type State = "stopped" | "starting" | "running" | "failed";

/** Starts and stops the processes; `changed()` is called whenever its state is another. */
export class Server {
  state: State = "stopped";
  address = "";
  message = "";
  private processes: Started[] = [];

  constructor(private readonly changed: () => void) {}

  /** Indexes the vault and serves it; the promise ends when the server answers, has failed, or was stopped. */
  async start(command: string, vault: string, port: number, watches: boolean): Promise<void> {
    if (this.state === "starting" || this.state === "running") return;
    const [program = "mathamr", ...first] = words(command);
    const before = this.processes;
    const own: Started[] = (this.processes = []);
    this.turn("starting", "", "Indexing the vault…");
    await Promise.all(before.map((each) => each.ended)); // they hold the port and the index
    if (this.processes !== own) return;
    const server = run(program, [...first, "serve", vault, "--port", String(port), "--processes", "1", "-q"]);
    own.push(server);
    await new Promise<void>((resolve) => {
      const late = setTimeout(() => this.fail(own, "The server did not start within ten minutes."), PATIENCE);
      let said = "";
      server.process.stdout?.on("data", (data: unknown) => {
        if (this.processes !== own || this.state !== "starting") return;
        said += String(data);
        const address = /https?:\/\/\S+/.exec(said)?.[0];
        if (!address) return;
        clearTimeout(late);
        this.turn("running", address, "");
        if (watches) this.watch(own, program, [...first, "index", vault, "--watch", "-q"]);
        resolve();
      });
      void server.ended.then((isFound) => {
        clearTimeout(late);
        this.fail(
          own,
          isFound
            ? lastLine(server.complaints) || "The server has ended."
            : `“${program}” cannot be started. Install mathamr, or give its full path in the settings.`,
        );
        resolve();
      });
    });
  }

  /** Ends the processes that it has started. */
  stop(): void {
    for (const each of this.processes) end(each);
    this.processes = [...this.processes]; // whoever waits for them sees that they are others
    this.turn("stopped", "", "");
  }

  /** Follows the changes of the vault; a watcher that ends is told, since new notes are not found then. */
  private watch(own: Started[], program: string, given: string[]): void {
    const watcher = run(program, given);
    own.push(watcher);
    void watcher.ended.then(() => {
      if (this.processes !== own) return;
      const why = lastLine(watcher.complaints);
      const what = "New and changed notes are not found until you stop the server and start it again.";
      this.turn(this.state, this.address, `The watcher has ended${why ? ` (${why})` : ""}. ${what}`);
    });
  }

  /** Ends the processes of one start, unless they were stopped already. */
  private fail(own: Started[], message: string): void {
    if (this.processes !== own) return;
    this.stop();
    this.turn("failed", "", message);
  }

  private turn(state: State, address: string, message: string): void {
    Object.assign(this, { state, address, message });
    this.changed();
  }
}

/** A process, the end of what it complained about, and a promise of its end: false if it could not be started. */
interface Started {
  process: ChildProcess;
  complaints: string;
  ended: Promise<boolean>;
}

function run(program: string, given: string[]): Started {
  const child = spawn(program, given, { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<boolean>((resolve) => {
    child.on("exit", () => resolve(true));
    child.on("error", () => resolve(child.pid !== undefined));
  });
  const started: Started = { process: child, complaints: "", ended };
  child.stdout?.resume(); // a process whose output nobody reads stops when the pipe is full
  child.stderr?.on("data", (data: unknown) => {
    started.complaints = (started.complaints + String(data)).slice(-LONGEST);
  });
  return started;
}

function end(started: Started): void {
  started.process.kill("SIGTERM");
  const late = setTimeout(() => started.process.kill("SIGKILL"), GRACE);
  void started.ended.then(() => clearTimeout(late));
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
