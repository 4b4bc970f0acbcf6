// Settings, and the tab in which they are changed.

import { type App, PluginSettingTab, Setting } from "obsidian";
import type MathamrPlugin from "./main";

export interface Settings {
  /** The command that runs mathamr; a full path where the application does not find it. */
  command: string;
  /** The port of the server that the plugin starts; 0 chooses a free one. */
  port: number;
  /** A server that runs already; the plugin then starts none. */
  address: string;
  startsWithVault: boolean;
  watches: boolean;
  results: number;
}

export const DEFAULTS: Settings = {
  command: "mathamr",
  port: 0,
  address: "",
  startsWithVault: false,
  watches: true,
  results: 20,
};

export class SettingsTab extends PluginSettingTab {
  constructor(
    app: App,
    private readonly plugin: MathamrPlugin,
  ) {
    super(app, plugin);
  }

  display(): void {
    const { containerEl } = this;
    const { settings } = this.plugin;
    containerEl.empty();
    new Setting(containerEl)
      .setName("Command")
      .setDesc("The program, with its full path if it is not found (in quotation marks if it has spaces): /home/me/.venv/bin/mathamr")
      .addText((text) =>
        text.setValue(settings.command).onChange((value) => this.save({ command: value.trim() || DEFAULTS.command })),
      );
    new Setting(containerEl)
      .setName("Port")
      .setDesc("The port of the server on this machine; 0 chooses a free one.")
      .addText((text) =>
        text.setValue(String(settings.port)).onChange((value) => {
          const port = Number(value);
          if (Number.isInteger(port) && port >= 0 && port < 65536) this.save({ port });
        }),
      );
    new Setting(containerEl)
      .setName("Address of a running server")
      .setDesc("Leave empty to let this plugin start one. Otherwise something like http://127.0.0.1:8080/")
      .addText((text) => text.setValue(settings.address).onChange((value) => this.save({ address: value.trim() })));
    new Setting(containerEl)
      .setName("Start with the vault")
      .setDesc("Start the server when the vault is opened.")
      .addToggle((toggle) =>
        toggle.setValue(settings.startsWithVault).onChange((value) => this.save({ startsWithVault: value })),
      );
    new Setting(containerEl)
      .setName("Follow changes")
      .setDesc("Update the index while you write.")
      .addToggle((toggle) => toggle.setValue(settings.watches).onChange((value) => this.save({ watches: value })));
    new Setting(containerEl)
      .setName("Results")
      .setDesc("How many results are shown, 1 to 100.")
      .addText((text) =>
        text.setValue(String(settings.results)).onChange((value) => {
          const results = Number(value);
          if (Number.isInteger(results) && results >= 1 && results <= 100) this.save({ results });
        }),
      );
  }

  private save(change: Partial<Settings>): void {
    void this.plugin.change(change);
  }
}
