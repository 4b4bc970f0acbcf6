// The plugin: commands, the panel, and the server of the vault.

import { type Editor, FileSystemAdapter, MarkdownView, Notice, Plugin, TFile, requestUrl } from "obsidian";
import { Client, type Hit, type Request, ServerError, type Task } from "./api";
import { type Block, blockAt, lineOf, pathOf } from "./block";
import { PANEL, Panel } from "./panel";
import { Server } from "./server";
import { DEFAULTS, type Settings, SettingsTab } from "./settings";

const request: Request = async (options) => {
  const { status, text } = await requestUrl({ ...options, throw: false });
  return { status, text };
};

export default class MathamrPlugin extends Plugin {
  settings: Settings = DEFAULTS;
  server = new Server(() => this.serverChanged());

  async onload(): Promise<void> {
    this.settings = { ...DEFAULTS, ...((await this.loadData()) as Partial<Settings> | null) };
    this.registerView(PANEL, (leaf) => new Panel(leaf, this));
    this.addSettingTab(new SettingsTab(this.app, this));
    this.addRibbonIcon("sigma", "Search mathematics", () => void this.panel());
    this.addCommand({ id: "open", name: "Search mathematics", callback: () => void this.panel() });
    this.addCommand({
      id: "search-selection",
      name: "Search from the selection",
      editorCallback: (editor: Editor) => void this.searchSelection(editor),
    });
    this.addCommand({
      id: "noted-already",
      name: "Have I noted this already?",
      editorCallback: (editor: Editor) => void this.whetherNoted(editor),
    });
    this.addCommand({ id: "start", name: "Start the server", callback: () => void this.startServer() });
    this.addCommand({ id: "stop", name: "Stop the server", callback: () => this.server.stop() });
    if (this.settings.startsWithVault) this.app.workspace.onLayoutReady(() => void this.startServer());
  }

  onunload(): void {
    this.server.stop();
  }

  async change(change: Partial<Settings>): Promise<void> {
    this.settings = { ...this.settings, ...change };
    await this.saveData(this.settings);
    this.serverChanged();
  }

  /** The server that answers: one of the settings, or the plugin's own. */
  client(): Client {
    return new Client(request, this.settings.address || this.server.address);
  }

  /** Waits until there is a server; one that was stopped by hand stays stopped. */
  async ready(): Promise<void> {
    if (this.settings.address || this.server.state === "running") return;
    if (this.server.state === "starting") throw new ServerError("The vault is still being indexed.");
    throw new ServerError("The server is stopped. Start it with the button above.");
  }

  async startServer(): Promise<void> {
    const { command, port, watches, address } = this.settings;
    const { adapter } = this.app.vault;
    if (address) return;
    if (!(adapter instanceof FileSystemAdapter)) {
      new Notice("mathamr needs a vault on this machine.");
      return;
    }
    await this.server.start(command, adapter.getBasePath(), port, watches);
    if (this.server.state === "failed") new Notice(`mathamr: ${this.server.message}`);
  }

  /** Opens the note of a hit at the line of what was found. */
  async open(hit: Hit, inNewTab: boolean): Promise<void> {
    const path = pathOf(hit, (each) => this.app.vault.getAbstractFileByPath(each) instanceof TFile);
    const file = path ? this.app.vault.getAbstractFileByPath(path) : null;
    if (!(file instanceof TFile)) {
      new Notice(`${hit.place?.path ?? hit.source} is not in this vault.`);
      return;
    }
    const line = lineOf(await this.app.vault.cachedRead(file), hit);
    const leaf = this.app.workspace.getLeaf(inNewTab ? "tab" : false);
    await leaf.openFile(file, { eState: { line } });
    const view = leaf.view;
    if (view instanceof MarkdownView) view.editor.setCursor({ line, ch: 0 });
  }

  /** Whether a hit is the very block that is asked about, not another place of the same note. */
  isIn(hit: Hit, path: string, block: Block): boolean {
    const found = pathOf(hit, (each) => each === path);
    if (found !== path) return false;
    const text = this.app.workspace.getActiveViewOfType(MarkdownView)?.editor.getValue();
    if (text === undefined) return true;
    const line = lineOf(text, hit);
    return line >= block.from && line <= block.to;
  }

  private async panel(): Promise<Panel | null> {
    const { workspace } = this.app;
    let leaf = workspace.getLeavesOfType(PANEL)[0] ?? null;
    if (!leaf) {
      leaf = workspace.getRightLeaf(false);
      await leaf?.setViewState({ type: PANEL, active: true });
    }
    if (leaf) await workspace.revealLeaf(leaf);
    return leaf?.view instanceof Panel ? leaf.view : null;
  }

  private async searchSelection(editor: Editor): Promise<void> {
    const text = editor.getSelection().trim() || editor.getLine(editor.getCursor().line).trim();
    if (!text) {
      new Notice("Select words or a formula first.");
      return;
    }
    const formula = /^\$\$?([^$]+)\$\$?$/.exec(text);
    const task: Task = formula ? "formulas" : "answers";
    await (await this.panel())?.ask(formula?.[1]?.trim() ?? text, task);
  }

  private async whetherNoted(editor: Editor): Promise<void> {
    const block = blockAt(editor.getValue().split("\n"), editor.getCursor().line);
    const path = this.app.workspace.getActiveFile()?.path ?? "";
    if (!block) {
      new Notice("There is no text at the cursor.");
      return;
    }
    await (await this.panel())?.askWhetherNoted(block, path);
  }

  private serverChanged(): void {
    for (const { view } of this.app.workspace.getLeavesOfType(PANEL)) if (view instanceof Panel) view.showServer();
  }
}
