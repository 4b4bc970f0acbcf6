// The panel at the side: a question, what was found, and the server.

import { ItemView, type WorkspaceLeaf, sanitizeHTMLToDom } from "obsidian";
import { type Answer, type Hit, type Match, type Piece, ServerError, type Task } from "./api";
import type { Block } from "./block";
import type MathamrPlugin from "./main";

export const PANEL = "mathamr-panel";

const MATCHES: Record<Match, string> = { strong: "strong match", weak: "weak match", similar: "similar" };

export class Panel extends ItemView {
  private task: Task = "answers";
  private box!: HTMLTextAreaElement;
  private server!: HTMLElement;
  private said!: HTMLElement;
  private list!: HTMLElement;
  private tasks!: Record<Task, HTMLButtonElement>;
  private asked = 0;

  constructor(
    leaf: WorkspaceLeaf,
    private readonly plugin: MathamrPlugin,
  ) {
    super(leaf);
  }

  getViewType(): string {
    return PANEL;
  }

  getDisplayText(): string {
    return "Search mathematics";
  }

  getIcon(): string {
    return "sigma";
  }

  async onOpen(): Promise<void> {
    const root = this.contentEl;
    root.empty();
    root.addClass("mathamr");
    this.server = root.createDiv({ cls: "mathamr-server" });
    this.box = root.createEl("textarea", {
      cls: "mathamr-box",
      attr: { rows: "2", placeholder: "Words and formulas: sum 1/n^2, $\\zeta(2)$", "aria-label": "Question" },
    });
    this.box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      void this.search();
    });
    const choice = root.createDiv({ cls: "mathamr-tasks", attr: { role: "group", "aria-label": "Search for" } });
    const button = (task: Task, text: string) => {
      const made = choice.createEl("button", { text });
      made.addEventListener("click", () => {
        this.choose(task);
        if (this.box.value.trim()) void this.search();
      });
      return made;
    };
    this.tasks = { answers: button("answers", "Notes"), formulas: button("formulas", "Formulas") };
    this.said = root.createEl("p", { cls: "mathamr-said", attr: { role: "status" } });
    this.list = root.createDiv({ cls: "mathamr-hits" });
    this.choose(this.task);
    this.showServer();
  }

  /** Searches for a text as if it had been typed. */
  async ask(text: string, task: Task): Promise<void> {
    this.box.value = text;
    this.choose(task);
    await this.search();
  }

  /** Whether a block of the open note is in the vault already, in another place. */
  async askWhetherNoted(block: Block, path: string): Promise<void> {
    this.box.value = block.text;
    this.choose("answers");
    await this.search((answer) => {
      const others = answer.hits.filter((hit) => !this.plugin.isIn(hit, path, block));
      const best = others.find(({ match }) => match !== "similar");
      const verdict = best
        ? best.match === "strong"
          ? "You have noted this already, it seems:"
          : "You may have noted this already:"
        : "You have not noted this yet. These notes are only similar:";
      return { hits: others, said: others.length ? verdict : "You have not noted this yet." };
    });
  }

  /** Shows the state of the server, and the button that changes it. */
  showServer(): void {
    if (!this.server) return;
    const { state, message } = this.plugin.server;
    const isOwn = !this.plugin.settings.address;
    const isOn = state === "running" || state === "starting";
    this.server.empty();
    const words = { stopped: "The server is stopped.", starting: message, running: message, failed: message }[state];
    this.server.createSpan({ cls: `mathamr-state mathamr-${state}`, text: isOwn ? words : "" });
    if ((state === "running" && !message) || !isOwn) void this.showCounts();
    if (!isOwn) return;
    const button = this.server.createEl("button", { text: isOn ? "Stop the server" : "Start the server" });
    button.addEventListener("click", () => {
      if (isOn) this.plugin.server.stop();
      else void this.plugin.startServer();
    });
  }

  private async showCounts(): Promise<void> {
    const place = this.server.querySelector<HTMLElement>(".mathamr-state");
    try {
      const { posts, formulas } = await this.plugin.client().about();
      place?.setText(`${posts} entries, ${formulas} formulas`);
    } catch (error) {
      place?.setText(error instanceof ServerError ? error.message : String(error));
    }
  }

  private choose(task: Task): void {
    this.task = task;
    for (const [name, button] of Object.entries(this.tasks)) {
      button.toggleClass("is-active", name === task);
      button.setAttribute("aria-pressed", String(name === task));
    }
  }

  private async search(judge?: (answer: Answer) => { hits: Hit[]; said: string }): Promise<void> {
    const question = this.box.value.trim();
    if (!question) return;
    const asked = ++this.asked;
    this.said.setText("Searching…");
    try {
      await this.plugin.ready();
      const answer = await this.plugin.client().search(question, this.task, this.plugin.settings.results);
      if (asked !== this.asked) return;
      const { hits, said } = judge?.(answer) ?? { hits: answer.hits, said: summary(answer) };
      this.said.setText(said);
      this.show(hits);
    } catch (error) {
      if (asked !== this.asked) return;
      this.list.empty();
      this.said.setText(error instanceof ServerError ? error.message : String(error));
    }
  }

  private show(hits: Hit[]): void {
    this.list.empty();
    const similar = hits.findLastIndex(({ match }) => match !== "similar") + 1;
    hits.forEach((hit, index) => {
      if (index === similar && index > 0)
        this.list.createEl("p", { cls: "mathamr-divider", text: "Similar only" });
      this.showHit(hit);
    });
  }

  private showHit(hit: Hit): void {
    const item = this.list.createDiv({ cls: "mathamr-hit", attr: { tabindex: "0", role: "link" } });
    if (hit.formula) {
      const found = { ...hit.formula, kind: "formula", text: hit.formula.latex, matched: false, display: true } as const;
      write(item.createDiv({ cls: "mathamr-found" }), [found], true);
    }
    write(item.createDiv({ cls: "mathamr-title" }), hit.title.length ? hit.title : [plain(hit.id)]);
    write(item.createDiv({ cls: "mathamr-snippet" }), hit.snippet);
    const about = item.createDiv({ cls: "mathamr-about" });
    about.createSpan({ text: hit.place ? `${hit.place.path}:${hit.place.line}` : hit.source });
    about.createSpan({ cls: `mathamr-${hit.match}`, text: MATCHES[hit.match] });
    const open = (event: MouseEvent | KeyboardEvent) => {
      event.preventDefault();
      void this.plugin.open(hit, event.ctrlKey || event.metaKey);
    };
    item.addEventListener("click", open);
    item.addEventListener("keydown", (event) => {
      if (event.key === "Enter") open(event);
    });
  }
}

function summary({ hits, found, absent, checked, query }: Answer): string {
  const quoted = absent.map((word) => `“${word}”`).join(", ");
  const first =
    hits.length === 0
      ? "Nothing found."
      : found === "nothing"
        ? "Nothing here seems to be what you asked for. These entries are only similar."
        : found === "similar"
          ? "The nearest, perhaps not what you asked."
          : "";
  const isStale = checked ? checked.changed_files + checked.new_files + checked.deleted_files > 0 : false;
  const lacks = isStale ? `Your notes did not mention ${quoted} when they were indexed.` : `Your notes do not mention ${quoted}.`;
  return [quoted ? lacks : "", first, ...query.notes].filter(Boolean).join(" ");
}

function plain(text: string): Piece {
  return { kind: "text", text, matched: false };
}

/** Writes text and formulas into an element; a formula is MathML, which Obsidian's browser draws. */
function write(place: HTMLElement, pieces: Piece[], isBlock = false): void {
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind !== "formula") {
      // A full stop after a formula never begins a line: U+2060 joins it to what stands before.
      const joint = pieces[index - 1]?.kind === "formula" && /^[.,;:!?)\]’”]/.test(piece.text) ? "\u2060" : "";
      const text = piece.kind === "gap" ? " … " : `${joint}${piece.text}`;
      place.createSpan({ text, cls: piece.matched ? "mathamr-matched" : "" });
      continue;
    }
    const formula = place.createSpan({ cls: piece.matched ? "mathamr-formula mathamr-matched" : "mathamr-formula" });
    const math = piece.mathml ? sanitizeHTMLToDom(piece.mathml).querySelector("math") : null;
    if (!math) {
      formula.createEl("code", { text: piece.latex });
      continue;
    }
    math.setAttribute("display", isBlock ? "block" : "inline");
    formula.append(math);
  }
}
