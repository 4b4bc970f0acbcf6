// What the server says; docs/api.md of mathamr describes it.

export interface TextPiece {
  kind: "text" | "gap";
  text: string;
  matched: boolean;
}

export interface FormulaPiece {
  kind: "formula";
  text: string;
  matched: boolean;
  latex: string;
  mathml: string | null;
  display: boolean;
}

export type Piece = TextPiece | FormulaPiece;
export type Task = "answers" | "formulas";
export type Match = "strong" | "weak" | "similar";

export interface Hit {
  id: string;
  match: Match;
  kind: string;
  title: Piece[];
  snippet: Piece[];
  source: string;
  place: { path: string; line: number } | null;
  formula: { latex: string; mathml: string | null; exact: boolean } | null;
}

export interface Answer {
  task: Task;
  found: Match | "nothing";
  absent: string[];
  checked: { changed_files: number; new_files: number; deleted_files: number } | null;
  query: { notes: string[] };
  hits: Hit[];
}

export interface About {
  name: string;
  posts: number;
  formulas: number;
}

/** Sends a request and gives the status and the text of the answer; Obsidian's `requestUrl` in the application. */
export type Request = (options: {
  url: string;
  method: string;
  contentType?: string;
  body?: string;
}) => Promise<{ status: number; text: string }>;

/** What the server answered instead of what was wanted, or that it does not answer. */
export class ServerError extends Error {}

/** The routes that the plugin uses. */
export class Client {
  constructor(
    private readonly request: Request,
    readonly address: string,
  ) {}

  about(): Promise<About> {
    return this.json("index");
  }

  search(q: string, task: Task, k: number): Promise<Answer> {
    return this.json("search", { q, task, k });
  }

  private async json<T>(route: string, body?: object): Promise<T> {
    let answer;
    try {
      answer = await this.request({
        url: `${this.address.replace(/\/$/, "")}/v1/${route}`,
        method: body ? "POST" : "GET",
        contentType: body ? "application/json" : undefined,
        body: body ? JSON.stringify(body) : undefined,
      });
    } catch {
      throw new ServerError(`The server at ${this.address} does not answer.`);
    }
    if (answer.status === 200) return JSON.parse(answer.text) as T;
    throw new ServerError(said(answer.text) ?? `The server answered ${answer.status}.`);
  }
}

function said(text: string): string | null {
  try {
    const message = (JSON.parse(text) as { error: { message: string } }).error.message;
    return `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.?!…]$/.test(message) ? "" : "."}`;
  } catch {
    return null;
  }
}
